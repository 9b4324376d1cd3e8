ctascope help --completion bash >completion
bash -c '
    source ./completion
    COMP_WORDS=(ctascope inf) COMP_CWORD=1; _ctascope; echo "${COMPREPLY[@]}"
    COMP_WORDS=(ctascope info --form) COMP_CWORD=2; _ctascope; echo "${COMPREPLY[@]}"
    COMP_WORDS=(ctascope info --format "") COMP_CWORD=3; _ctascope; echo "${COMPREPLY[@]}"
    COMP_WORDS=(ctascope dump r --ta) COMP_CWORD=3; _ctascope; echo "${COMPREPLY[@]}"
    complete -p ctascope'
