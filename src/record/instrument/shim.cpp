/* The plugin's only C++: it tells clang which pass runs where, and lends the passes, which are C,
 * what LLVM's C API lacks (shim.h).
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
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Utils/Cloning.h>
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
bool cts_is_users_path(const char *path); /* debuginfo.h */
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

/* The first frame of an inlined instruction that is in a file of the user's, else its own. */
const DILocation *user_frame(const DILocation *location)
{
    for (const DILocation *at = location; at; at = at->getInlinedAt()) {
        SmallString<128> path(at->getFilename());
        sys::fs::make_absolute(at->getDirectory(), path);
        if (cts_is_users_path(path.c_str())) return at;
    }
    return location;
}

/* Clang knows the source's lines in the first step, and prints them with the message. In the
 * retarget step its input is IR, so the position goes into the text. */
void diagnose(LLVMModuleRef module, LLVMValueRef instruction, const char *message,
              DiagnosticSeverity severity)
{
    LLVMContext &context = unwrap(module)->getContext();
    auto *at = dyn_cast_or_null<Instruction>(instruction ? unwrap(instruction) : nullptr);
    const DILocation *location = at ? user_frame(at->getDebugLoc().get()) : nullptr;
    if (at && !setting_is("CTS_STEP", "retarget")) {
        context.diagnose(
            DiagnosticInfoUnsupported(*at->getFunction(), message, DebugLoc(location), severity));
        return;
    }
    std::string text;
    if (location)
        text = (location->getFilename() + ":" + Twine(location->getLine()) + ":" +
                Twine(location->getColumn()) + ": ")
                   .str();
    context.diagnose(DiagnosticInfoInlineAsm(uint64_t(0), text + message, severity));
}

} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "ctascope", CTASCOPE_VERSION, add_passes};
}

LLVMValueRef cts_clone_function(LLVMValueRef function, const char *name)
{
    ValueToValueMapTy values;
    Function *copy = CloneFunction(unwrap<Function>(function), values);
    copy->setName(name);
    copy->setComdat(nullptr);
    copy->setLinkage(GlobalValue::InternalLinkage);
    return wrap(copy);
}

LLVMBasicBlockRef cts_split_before(LLVMValueRef instruction)
{
    auto *at = unwrap<Instruction>(instruction);
    return wrap(at->getParent()->splitBasicBlock(at));
}

/* A file of bitcode as a module that fits into `module`; null, and the problem, when it is none. */
static std::unique_ptr<Module> read_bitcode(LLVMModuleRef module, const char *path, char **problem)
{
    SMDiagnostic diagnostic;
    std::unique_ptr<Module> source = parseIRFile(path, diagnostic, unwrap(module)->getContext());
    if (!source) {
        *problem =
            strdup((diagnostic.getFilename() + ": " + diagnostic.getMessage()).str().c_str());
        return nullptr;
    }
    for (const char *own : {"llvm.module.flags", "llvm.ident", "nvvmir.version"})
        if (NamedMDNode *node = source->getNamedMetadata(own)) source->eraseNamedMetadata(node);
    source->setDataLayout(unwrap(module)->getDataLayout());
    source->setTargetTriple(unwrap(module)->getTargetTriple());
    return source;
}

int cts_link_bitcode(LLVMModuleRef module, const char *path, char **problem)
{
    std::unique_ptr<Module> source = read_bitcode(module, path, problem);
    if (!source) return 1;
    std::vector<std::string> names;
    for (Function &function : *source) {
        if (function.isDeclaration()) continue;
        function.removeFnAttr("target-cpu");
        function.removeFnAttr("target-features");
        function.setComdat(nullptr);
        if (unwrap(module)->getFunction(function.getName()) && function.hasExternalLinkage())
            names.push_back(function.getName().str());
        else
            function.setLinkage(GlobalValue::InternalLinkage);
    }
    if (Linker::linkModules(*unwrap(module), std::move(source))) {
        *problem = strdup((std::string(path) + ": does not fit the module").c_str());
        return 1;
    }
    for (const std::string &name : names)
        if (Function *function = unwrap(module)->getFunction(name))
            function->setLinkage(GlobalValue::InternalLinkage);
    return 0;
}

int cts_link_needed(LLVMModuleRef module, const char *path, char **problem)
{
    std::unique_ptr<Module> source = read_bitcode(module, path, problem);
    if (!source) return 1;
    std::vector<std::string> names;
    for (GlobalObject &object : source->global_objects()) {
        object.setComdat(nullptr);
        if (!object.isDeclaration()) names.push_back(object.getName().str());
        if (auto *function = dyn_cast<Function>(&object)) {
            function->removeFnAttr("target-cpu");
            function->removeFnAttr("target-features");
        }
    }
    if (Linker::linkModules(*unwrap(module), std::move(source), Linker::Flags::LinkOnlyNeeded)) {
        *problem = strdup((std::string(path) + ": does not fit the module").c_str());
        return 1;
    }
    for (const std::string &name : names) {
        GlobalValue *value = unwrap(module)->getNamedValue(name);
        if (value && !value->isDeclaration()) value->setLinkage(GlobalValue::InternalLinkage);
    }
    return 0;
}

char *cts_demangle(const char *symbol)
{
    ItaniumPartialDemangler parts;
    if (parts.partialDemangle(symbol)) return strdup(symbol);
    std::unique_ptr<char, decltype(&free)> full(parts.finishDemangle(nullptr, nullptr), free);
    if (!full) return strdup(symbol);
    const char *text = full.get();
    if (parts.isFunction()) {
        std::unique_ptr<char, decltype(&free)> type(parts.getFunctionReturnType(nullptr, nullptr),
                                                    free);
        size_t length = type ? strlen(type.get()) : 0;
        if (length && !strncmp(text, type.get(), length) && text[length] == ' ') text += length + 1;
    }
    return strdup(text);
}

void cts_error_at(LLVMModuleRef module, LLVMValueRef instruction, const char *message)
{
    diagnose(module, instruction, message, DS_Error);
}

void cts_warning_at(LLVMModuleRef module, LLVMValueRef instruction, const char *message)
{
    diagnose(module, instruction, message, DS_Warning);
}

unsigned cts_metadata_operand_count(LLVMMetadataRef node)
{
    auto *tuple = dyn_cast_or_null<MDNode>(unwrap(node));
    return tuple ? tuple->getNumOperands() : 0;
}

LLVMMetadataRef cts_metadata_operand(LLVMMetadataRef node, unsigned index)
{
    auto *tuple = dyn_cast_or_null<MDNode>(unwrap(node));
    return tuple && index < tuple->getNumOperands() ? wrap(tuple->getOperand(index).get())
                                                    : nullptr;
}

const char *cts_metadata_text(LLVMMetadataRef string, size_t *size_bytes)
{
    auto *text = dyn_cast_or_null<MDString>(unwrap(string));
    *size_bytes = text ? text->getLength() : 0;
    return text ? text->getString().data() : nullptr;
}

long long cts_metadata_integer(LLVMMetadataRef node, long long otherwise)
{
    auto *constant = mdconst::dyn_extract_or_null<ConstantInt>(unwrap(node));
    return constant && constant->getBitWidth() <= 64 ? constant->getSExtValue() : otherwise;
}

/* False when the record says nothing that a name could be told by: a value that needs more than
 * being put at an offset of the variable to become its content. */
static bool read_record(DbgVariableRecord &record, cts_debug_variable &seen)
{
    Value *value = nullptr;
    if (record.isDbgAssign() && isa_and_nonnull<AllocaInst>(record.getAddress())) {
        value = record.getAddress();
        seen.is_address = 1;
    } else if (record.getNumVariableLocationOps() == 1) {
        value = record.getVariableLocationOp(0);
        seen.is_address = record.isDbgDeclare();
        DIExpression *expression = record.getExpression();
        unsigned length = expression ? expression->getNumElements() : 0;
        if (length && expression->getFragmentInfo()) {
            seen.offset_bytes = unsigned(expression->getFragmentInfo()->OffsetInBits / 8);
            length -= 3;
        }
        if (length == 1 && expression->startsWithDeref())
            seen.is_address = 1;
        else if (length && !seen.is_address)
            return false;
    }
    seen.value = wrap(value);
    return value != nullptr;
}

void cts_each_debug_variable(LLVMValueRef function, cts_visit_variable *visit, void *user)
{
    for (Instruction &instruction : instructions(*unwrap<Function>(function))) {
        for (DbgVariableRecord &record : filterDbgVars(instruction.getDbgRecordRange())) {
            cts_debug_variable seen = {};
            seen.variable = wrap(record.getVariable());
            seen.position = wrap(record.getDebugLoc().get());
            if (read_record(record, seen)) visit(user, &seen);
        }
    }
}
