/* Tells clang which pass runs where. The passes themselves are C.
 *
 *   start of the pipeline   host module: the host pass.  Step retarget: the retarget pass. Device
 *                           code for the CPU: the define pass.
 *   end of the pipeline     NVPTX module: address spaces are inferred and neighbouring loads and
 *                           stores joined to vector ones (NVPTX does both in its code generator
 *                           only; what is recorded is what the GPU would do), then, for the CPU,
 *                           the lower pass, then the device pass. Lowering comes first so that the
 *                           accesses of inline PTX are seen as ordinary instructions. For a GPU,
 *                           what the device pass linked in is inlined at last (CTS_PRODUCER).
 *
 * With CTS_VERIFY=1 the module is verified after each of them. */
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <llvm/ADT/Any.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Vectorize/LoadStoreVectorizer.h>

#include "record/instrument/shim.h"

using namespace llvm;

/* Weak, so that the plugin links while a pass does not exist. */
#define CTS_WEAK __attribute__((weak))
extern "C" {
CTS_WEAK int cts_define_pass(LLVMModuleRef module);
CTS_WEAK int cts_device_pass(LLVMModuleRef module);
CTS_WEAK int cts_lower_pass(LLVMModuleRef module);
CTS_WEAK int cts_retarget_pass(LLVMModuleRef module);
CTS_WEAK int cts_host_pass(LLVMModuleRef module);
}

namespace
{

bool setting_is(const char *name, const char *value)
{
    const char *text = getenv(name);
    return text && !strcmp(text, value);
}

bool is_device_code(const Module &module)
{
    return StringRef(module.getTargetTriple()).starts_with("nvptx");
}

PreservedAnalyses run_pass(int (*pass)(LLVMModuleRef), const char *name, Module &module)
{
    if (!pass || !pass(wrap(&module))) return PreservedAnalyses::all();
    if (setting_is("CTS_VERIFY", "1")) {
        std::string problem;
        raw_string_ostream stream(problem);
        if (verifyModule(module, &stream)) {
            std::string text = std::string("ctascope: the ") + name + " pass broke the module: ";
            cts_error_at(wrap(&module), nullptr, (text + stream.str()).c_str());
        }
    }
    return PreservedAnalyses::none();
}

struct StartPass : PassInfoMixin<StartPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        if (setting_is("CTS_STEP", "retarget"))
            return run_pass(cts_retarget_pass, "retarget", module);
        if (is_device_code(module) && setting_is("CTS_DEVICE", "cpu"))
            return run_pass(cts_define_pass, "define", module);
        if (is_device_code(module) || setting_is("CTS_STEP", "device"))
            return PreservedAnalyses::all();
        return run_pass(cts_host_pass, "host", module);
    }
    static bool isRequired() { return true; }
};

/* A function pass of LLVM's own, on device code only. */
template <class Pass> struct DevicePass : PassInfoMixin<DevicePass<Pass>> {
    PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses)
    {
        if (!is_device_code(*function.getParent()) || setting_is("CTS_STEP", "retarget"))
            return PreservedAnalyses::all();
        return Pass().run(function, analyses);
    }
};

template <int (*const *pass)(LLVMModuleRef), bool only_for_cpu>
struct LastPass : PassInfoMixin<LastPass<pass, only_for_cpu>> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        if (!is_device_code(module) || setting_is("CTS_STEP", "retarget"))
            return PreservedAnalyses::all();
        if (only_for_cpu && !setting_is("CTS_DEVICE", "cpu")) return PreservedAnalyses::all();
        return run_pass(*pass, only_for_cpu ? "lower" : "device", module);
    }
    static bool isRequired() { return true; }
};

/* Functions with the attribute "cts-lean" (shim.h) were optimised in the first compile; what the
 * retarget pass put into them needs but a few passes, and each of the others costs time. */
const Function *function_of(const Any &unit)
{
    if (const auto *function = any_cast<const Function *>(&unit)) return *function;
    if (const auto *loop = any_cast<const Loop *>(&unit)) return (*loop)->getHeader()->getParent();
    return nullptr;
}

class LeanFunctions
{
    enum { COMBINES = 2 };
    StringMap<unsigned> combined; // how often InstCombine has run on a function

  public:
    bool should_run(StringRef pass, const Any &unit)
    {
        const Function *function = function_of(unit);
        if (!function || !function->hasFnAttribute(CTS_LEAN_FUNCTION)) return true;
        if (pass == "InstCombinePass") return combined[function->getName()]++ < COMBINES;
        return pass == "SROAPass" || pass == "EarlyCSEPass" || pass == "SimplifyCFGPass";
    }
};

/* Makes the producer part of the code around it: its state goes to registers, what it says of
 * constants and of states that are known is worked out, and its pointers are known to be global. */
const char *const inline_producer =
    "always-inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,infer-address-spaces,"
    "instcombine,early-cse<memssa>,simplifycfg),globaldce";

/* What debug information told is in the module's table; with it, PTX would be compiled unoptimised.
 */
struct StripPass : PassInfoMixin<StripPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        return is_device_code(module) && StripDebugInfo(module) ? PreservedAnalyses::none()
                                                                : PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }
};

int (*const lower_pass)(LLVMModuleRef) = cts_lower_pass;
int (*const device_pass)(LLVMModuleRef) = cts_device_pass;

void add_passes(PassBuilder &builder)
{
    PassInstrumentationCallbacks *callbacks = builder.getPassInstrumentationCallbacks();
    if (callbacks && setting_is("CTS_STEP", "retarget"))
        callbacks->registerShouldRunOptionalPassCallback(
            [lean = std::make_shared<LeanFunctions>()](StringRef pass, Any unit) {
                return lean->should_run(pass, unit);
            });
    builder.registerPipelineStartEPCallback(
        [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(StartPass()); });
    builder.registerOptimizerLastEPCallback(
        [&builder](ModulePassManager &passes, OptimizationLevel) {
            FunctionPassManager functions;
            functions.addPass(DevicePass<InferAddressSpacesPass>());
            functions.addPass(DevicePass<LoadStoreVectorizerPass>());
            passes.addPass(createModuleToFunctionPassAdaptor(std::move(functions)));
            passes.addPass(LastPass<&lower_pass, true>());
            passes.addPass(LastPass<&device_pass, false>());
            if (!getenv("CTS_PRODUCER")) return;
            cantFail(builder.parsePassPipeline(passes, inline_producer));
            passes.addPass(StripPass());
        });
}

} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "ctascope", CTASCOPE_VERSION, add_passes};
}
