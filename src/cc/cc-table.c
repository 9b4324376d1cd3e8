/* The table of options, and finding one in it. Names in one row mean the same: first the short one
 * of clang or nvcc, then nvcc's long one. The order of rows says nothing. */
#include <string.h>

#include "cc/cc-table.h"

/* Where an option goes; _AS: see struct cc_option. */
#define TO(list)              .place = list
#define TO_AS(list, name)     .place = list, .as = name
#define TEXT(name)            .place = CC_TEXT, .member = offsetof(struct cc_request, name)
#define TEXT_AS(name, value)  TEXT(name), .as = value
#define ON(name)              .place = CC_ON, .member = offsetof(struct cc_request, name)
#define OFF(name)             .place = CC_OFF, .member = offsetof(struct cc_request, name)
#define STAGE(what)           .place = CC_STAGE, .stage = what
#define SPECIAL(what)         .place = CC_SPECIAL, .special = what
#define SPECIAL_AS(what, as_) SPECIAL(what), .as = as_

static const struct cc_option options[] = {
    /* ours */
    {"--device", CC_VALUE, SPECIAL(CC_SET_DEVICE)},
    {"--toolkit --cuda-path", CC_VALUE, TEXT(toolkit_asked)},
    {"--cuda-version", CC_VALUE, SPECIAL(CC_SET_CUDA_VERSION)},
    {"--kernel-name", CC_VALUE, SPECIAL(CC_SET_KERNEL_NAME)},
    {"--kernels", CC_VALUE, TEXT(kernels)}, /* a former spelling: an expression */
    {"--sources", CC_VALUE, TEXT(sources)},
    {"--locals", CC_FLAG, ON(locals)},
    {"--strict", CC_FLAG, ON(strict)},
    {"--values", CC_FLAG, ON(values)},
    {"--host-accesses", CC_FLAG, ON(host_accesses)},
    {"--no-instrument", CC_FLAG, OFF(instrument)},
    {"--keep --keep-dir -keep-dir", CC_VALUE, TEXT(keep)},
    {"-keep -save-temps", CC_FLAG, TEXT_AS(keep, ".")},

    /* what to make */
    {"-o", CC_JOINED, TEXT(output)},
    {"--output-file", CC_VALUE, TEXT(output)},
    {"-odir --output-directory", CC_VALUE, TEXT(directory)},
    {"-c --compile -dw --device-w", CC_FLAG, SPECIAL(CC_SET_OBJECT)},
    {"-dc --device-c", CC_FLAG, SPECIAL(CC_SET_OBJECT_RDC)},
    {"-dlink --device-link", CC_FLAG, STAGE(CC_DEVICE_LINK)},
    {"-lib --lib", CC_FLAG, STAGE(CC_LIBRARY)},
    {"-E --preprocess", CC_FLAG, STAGE(CC_PREPROCESS)},
    {"--precompile-headers", CC_FLAG, STAGE(CC_PRECOMPILE)},
    {"--version -V", CC_FLAG, STAGE(CC_VERSION)},
    {"--help -h", CC_FLAG, STAGE(CC_HELP)},
    {"-ptx --ptx -cubin --cubin -fatbin --fatbin", CC_FLAG, SPECIAL(CC_SET_MODULE)},
    {"-cuda --cuda -S -run --run -m32", CC_FLAG, TO(CC_REFUSED)},
    {"-v --verbose", CC_FLAG, ON(verbose)},
    {"-### --dryrun -dryrun", CC_FLAG, ON(dry_run)},
    {"-x", CC_JOINED, SPECIAL(CC_SET_LANGUAGE)},
    {"--x", CC_VALUE, SPECIAL(CC_SET_LANGUAGE)},
    {"-optf --options-file", CC_VALUE, SPECIAL(CC_READ_OPTIONS_FILE)},

    /* dependencies */
    {"-M --generate-dependencies", CC_FLAG, STAGE(CC_DEPENDENCIES)},
    {"-MM --generate-nonsystem-dependencies", CC_FLAG, SPECIAL(CC_SET_USER_DEPENDENCIES)},
    {"-MD --generate-dependencies-with-compile", CC_FLAG, ON(write_dependencies)},
    {"-MMD --generate-nonsystem-dependencies-with-compile", CC_FLAG,
     SPECIAL(CC_WRITE_USER_DEPENDENCIES)},
    {"-MF", CC_JOINED, TEXT(dependency_file)},
    {"--dependency-output", CC_VALUE, TEXT(dependency_file)},
    {"-MT", CC_JOINED, SPECIAL_AS(CC_ADD_DEPENDENCY_FLAG, "-MT")},
    {"--dependency-target-name", CC_VALUE, SPECIAL_AS(CC_ADD_DEPENDENCY_FLAG, "-MT")},
    {"-MQ", CC_JOINED, SPECIAL_AS(CC_ADD_DEPENDENCY_FLAG, "-MQ")},
    {"-MP --generate-dependency-targets", CC_FLAG, SPECIAL_AS(CC_ADD_DEPENDENCY_FLAG, "-MP")},

    /* preprocessor and language */
    {"-I", CC_JOINED, TO_AS(CC_SHARED, "-I")},
    {"--include-path", CC_VALUE, TO_AS(CC_SHARED, "-I")},
    {"-isystem", CC_JOINED, TO_AS(CC_SHARED, "-isystem")},
    {"--system-include", CC_VALUE, TO_AS(CC_SHARED, "-isystem")},
    {"-iquote", CC_JOINED, TO_AS(CC_SHARED, "-iquote")},
    {"-idirafter", CC_JOINED, TO_AS(CC_SHARED, "-idirafter")},
    {"-include --pre-include", CC_VALUE, TO_AS(CC_SHARED, "-include")},
    {"-imacros", CC_VALUE, TO_AS(CC_SHARED, "-imacros")},
    {"-D", CC_GLUED, TO_AS(CC_SHARED, "-D")},
    {"--define-macro", CC_VALUE, TO_AS(CC_SHARED, "-D")},
    {"-U", CC_GLUED, TO_AS(CC_SHARED, "-U")},
    {"--undefine-macro", CC_VALUE, TO_AS(CC_SHARED, "-U")},
    {"-std --std", CC_VALUE, TO_AS(CC_SHARED, "-std=")},
    {"-stdlib", CC_EQUALS, TO(CC_HOST_AND_LINK)},
    {"--sysroot", CC_VALUE, TO_AS(CC_SHARED, "--sysroot=")},
    {"-ansi -undef", CC_FLAG, TO(CC_SHARED)},
    {"-pedantic -nostdinc", CC_PREFIX, TO(CC_SHARED)},
    {"-P -C", CC_FLAG, TO(CC_HOST)},

    /* optimisation and debugging */
    {"-O", CC_JOINED, SPECIAL(CC_SET_OPTIMISATION)},
    {"--optimize", CC_VALUE, SPECIAL(CC_SET_OPTIMISATION)},
    {"-G --device-debug", CC_FLAG, ON(device_debug)},
    {"-g", CC_PREFIX, SPECIAL(CC_SET_DEBUG)},
    {"--debug", CC_FLAG, SPECIAL(CC_SET_DEBUG)},
    {"-pg --profile", CC_FLAG, TO_AS(CC_HOST_AND_LINK, "-pg")},
    {"-use_fast_math --use_fast_math", CC_FLAG, SPECIAL(CC_SET_FAST_MATH)},
    {"-fmad --fmad", CC_VALUE, SPECIAL(CC_SET_CONTRACTION)},
    {"-ftz --ftz -prec-div --prec-div -prec-sqrt --prec-sqrt", CC_VALUE, TO(CC_IGNORED)},
    {"-lineinfo --generate-line-info", CC_FLAG, TO(CC_IGNORED)},

    /* the GPU */
    {"-arch --gpu-architecture --cuda-gpu-arch --offload-arch -gencode --generate-code", CC_VALUE,
     SPECIAL(CC_SET_ARCHITECTURE)},
    {"-rdc --relocatable-device-code", CC_VALUE, SPECIAL(CC_SET_RDC)},
    {"-fgpu-rdc", CC_FLAG, ON(separate_units)},
    {"-fno-gpu-rdc", CC_FLAG, OFF(separate_units)},
    {"-default-stream --default-stream", CC_VALUE, SPECIAL(CC_SET_DEFAULT_STREAM)},
    {"-code --gpu-code -maxrregcount --maxrregcount -Xptxas --ptxas-options -Xcuda-ptxas "
     "-Xcuda-fatbinary -Xnvlink --nvlink-options -Xfatbin --fatbin-options -Xcudafe -Xarchive "
     "--archive-options -ccbin --compiler-bindir -cudart --cudart -cudadevrt --cudadevrt "
     "-target-dir --target-directory -time --time --threads --split-compile",
     CC_VALUE, TO(CC_IGNORED)},
    {"-t", CC_JOINED, TO(CC_IGNORED)},
    {"-extended-lambda --extended-lambda -expt-extended-lambda --expt-extended-lambda "
     "-expt-relaxed-constexpr --expt-relaxed-constexpr -allow-unsupported-compiler "
     "--allow-unsupported-compiler -dlto --dlink-time-opt -restrict --restrict -res-usage "
     "--resource-usage -src-in-ptx --source-in-ptx -clean -objtemp --objdir-as-tempdir -noprof "
     "-nocudainc -nocudalib --no-cuda-version-check",
     CC_FLAG, TO(CC_IGNORED)},

    /* warnings, and what is not known */
    {"-Wl,", CC_PREFIX, TO(CC_LINKED)},
    {"-Wa,", CC_PREFIX, TO(CC_HOST)},
    {"-W", CC_PREFIX, TO(CC_SHARED)},
    {"-w --disable-warnings", CC_FLAG, TO_AS(CC_SHARED, "-w")},
    {"-Werror", CC_FLAG, SPECIAL(CC_SET_NVCC_WERROR)},
    {"-Wno-deprecated-gpu-targets -Wdefault-stream-launch -Wext-lambda-captures-this "
     "-Wmissing-launch-bounds --display-error-number --no-display-error-number -err-no",
     CC_FLAG, TO(CC_IGNORED)},
    {"-diag-suppress --diag-suppress --diag_suppress -diag-warn --diag-warn --diag_warning "
     "-diag-error --diag-error --diag_error",
     CC_VALUE, TO(CC_IGNORED)},
    {"-forward-unknown-to-host-compiler --forward-unknown-to-host-compiler "
     "-forward-unknown-opts",
     CC_FLAG, SPECIAL(CC_FORWARD_UNKNOWN)},

    /* passed to the host's compiler and linker */
    {"-Xcompiler --compiler-options -Xarch_host", CC_VALUE, SPECIAL(CC_ADD_HOST_WORDS)},
    {"-Xlinker --linker-options", CC_VALUE, SPECIAL(CC_ADD_LINK_WORDS)},
    {"-Xarch_device", CC_VALUE, TO(CC_IGNORED)},
    {"-L", CC_JOINED, TO_AS(CC_LINKED, "-L")},
    {"--library-path", CC_VALUE, TO_AS(CC_LINKED, "-L")},
    {"-l", CC_JOINED, SPECIAL(CC_ADD_LIBRARY)},
    {"--library", CC_VALUE, SPECIAL(CC_ADD_LIBRARY)},
    {"-shared --shared", CC_FLAG, SPECIAL(CC_SET_SHARED_LIBRARY)},
    {"-static -nostdlib", CC_PREFIX, TO(CC_LINKED)},
    {"-nodefaultlibs -rdynamic -pie -no-pie -s -r", CC_FLAG, TO(CC_LINKED)},
    {"-z", CC_JOINED, TO_AS(CC_LINKED, "-z")},
    {"-u", CC_JOINED, TO_AS(CC_LINKED, "-u")},
    {"-T", CC_JOINED, TO_AS(CC_LINKED, "-T")},
    {"-B", CC_JOINED, TO_AS(CC_LINKED, "-B")},
    {"-rpath", CC_VALUE, TO_AS(CC_LINKED, "-Wl,-rpath,")},
    {"-fuse-ld", CC_EQUALS, TO(CC_LINKED)},
    {"-pthread --coverage", CC_FLAG, TO(CC_HOST_AND_LINK)},
    {"-fopenmp -fsanitize -fno-sanitize -fprofile", CC_PREFIX, TO(CC_HOST_AND_LINK)},
    {"-fcoverage -fPI -fpi -fno-PI -fno-pi -fstack -fno-stack -fcf-protection -fvisibility",
     CC_PREFIX, TO(CC_HOST)},
    {"-ffunction-sections -fdata-sections", CC_FLAG, TO(CC_HOST)},
    {"-flto", CC_PREFIX, TO(CC_IGNORED)},
    {"-fno-lto -m64 -pipe", CC_FLAG, TO(CC_IGNORED)},
    {"--machine", CC_VALUE, TO(CC_IGNORED)},
    {"-fno-omit-frame-pointer -fomit-frame-pointer", CC_FLAG, TO(CC_MACHINE)},
    {"-m", CC_PREFIX, TO(CC_MACHINE)},
    {"-f", CC_PREFIX, TO(CC_SHARED)},
    {"-Qunused-arguments", CC_FLAG, TO(CC_SHARED)},
    {"-Xclang", CC_VALUE, TO_AS(CC_SHARED, "-Xclang")},
    {"-mllvm", CC_VALUE, TO_AS(CC_SHARED, "-mllvm")},
};

/* Whether `rest`, what follows a name in an argument, may stand there. */
static bool may_follow(enum cc_form form, const char *rest)
{
    switch (form) {
    case CC_FLAG:
        return *rest == '\0';
    case CC_VALUE:
        return *rest == '\0' || *rest == '=';
    case CC_EQUALS:
        return *rest == '=';
    case CC_JOINED:
    case CC_GLUED:
    case CC_PREFIX:
        return true;
    }
    return false;
}

/* The length of the option's longest name that fits; 0: none. */
static size_t fit(const struct cc_option *option, const char *argument)
{
    size_t longest = 0;
    for (const char *name = option->names; *name;) {
        const size_t length = strcspn(name, " ");
        if (length > longest && strncmp(argument, name, length) == 0 &&
            may_follow(option->form, argument + length))
            longest = length;
        name += length;
        name += strspn(name, " ");
    }
    return longest;
}

const struct cc_option *cc_option_find(const char *argument, size_t *name_length)
{
    const struct cc_option *found = NULL;
    *name_length = 0;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const size_t length = fit(&options[i], argument);
        if (length <= *name_length) continue;
        *name_length = length;
        found = &options[i];
    }
    return found;
}
