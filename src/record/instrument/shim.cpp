/* What the passes, which are C, need of LLVM and its C API lacks: see shim.h. */
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <llvm/ADT/DenseMap.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "record/instrument/shim.h"
#include "record/instrument/users-path.h"

using namespace llvm;

namespace
{

bool is_users(const DIFile *file)
{
    SmallString<128> path(file->getFilename());
    sys::fs::make_absolute(file->getDirectory(), path);
    return cts_is_users_path(path.c_str());
}

/* The first frame of an inlined instruction that is in a file of the user's, else its own. */
const DILocation *user_frame(const DILocation *location)
{
    for (const DILocation *at = location; at; at = at->getInlinedAt())
        if (at->getFile() && is_users(at->getFile())) return at;
    return location;
}

bool is_retarget_step()
{
    const char *step = getenv("CTS_STEP");
    return step && !strcmp(step, "retarget");
}

/* Clang knows the source's lines in the first step, and prints them with the message. In the
 * retarget step its input is IR, so the position goes into the text. */
void diagnose(LLVMModuleRef module, LLVMValueRef instruction, const char *message,
              DiagnosticSeverity severity)
{
    LLVMContext &context = unwrap(module)->getContext();
    auto *at = dyn_cast_or_null<Instruction>(instruction ? unwrap(instruction) : nullptr);
    const DILocation *location = at ? user_frame(at->getDebugLoc().get()) : nullptr;
    if (at && !is_retarget_step()) {
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

int cts_inline_call(LLVMValueRef call)
{
    auto *const at = cast<CallBase>(unwrap(call));
    const Function *const function = at->getCalledFunction();
    Function *const caller = at->getFunction();
    InlineFunctionInfo info;
    if (!function || at->isMustTailCall() || function->hasFnAttribute(Attribute::ReturnsTwice))
        return 0;
    return InlineFunction(*at, info, true).isSuccess() && caller;
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

void cts_keep_users_lines(LLVMModuleRef module)
{
    DenseMap<const DILocation *, const DILocation *> frames;
    for (Function &function : *unwrap(module))
        for (Instruction &instruction : instructions(function)) {
            const DILocation *location = instruction.getDebugLoc().get();
            if (!location || !location->getInlinedAt()) continue;
            const DILocation *&frame = frames[location];
            if (!frame) frame = user_frame(location);
            if (frame != location) instruction.setDebugLoc(DebugLoc(frame));
        }
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
    ItaniumPartialDemangler parts; /* takes types, too: 'i' would be an int */
    if (strncmp(symbol, "_Z", 2) != 0 || parts.partialDemangle(symbol)) return strdup(symbol);
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
