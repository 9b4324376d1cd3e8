# several records of one MPI job share a run; one of another job does not
export PMIX_NAMESPACE=job1 OMPI_COMM_WORLD_SIZE=2
OMPI_COMM_WORLD_RANK=1 ctascope record -o r -- make-run complete 2>/dev/null; echo $?
OMPI_COMM_WORLD_RANK=0 ctascope record -o r --force -- sh -c 'make-run no-launch 2>/dev/null' 2>/dev/null; echo $?
ls r
PMIX_NAMESPACE=job2 OMPI_COMM_WORLD_RANK=0 ctascope record -o r -- make-run no-launch; echo $?
