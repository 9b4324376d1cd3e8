# Makes the tables of the CUDA driver's and runtime's calls from the toolkit's own headers:
#
#     awk -f cuda-calls.awk domain=driver cupti_driver_cbid.h generated_cuda_meta.h \
#         domain=runtime cupti_runtime_cbid.h generated_cuda_runtime_api_meta.h > cuda-calls.inc
#
# The headers of callback ids name every call; those of the parameters say where, in a call's
# parameters, its stream and its event are, and the stream that it creates and with what flags. The name of a call decides what it is (classify).

/CUPTI_(DRIVER|RUNTIME)_TRACE_CBID_[A-Za-z0-9_]+ *= *[0-9]+/ {
    name = $1
    sub(/^CUPTI_(DRIVER|RUNTIME)_TRACE_CBID_/, "", name)
    if (name == "INVALID" || name == "SIZE" || name == "FORCE_INT") next
    count[domain]++
    calls[domain, count[domain]] = name
}

/^typedef struct .*_params_st *\{/ {
    structure = $3
    sub(/_params_st.*/, "", structure)
    known[structure] = 1
}
structure && /^ *(CUstream|cudaStream_t) (stream|hStream);/ { stream[structure] = member($2) }
structure && /^ *(CUevent hEvent|cudaEvent_t event);/ { event[structure] = member($2) }
structure && /^ *(CUstream \*phStream|cudaStream_t \*pStream);/ {
    created[structure] = member($2)
    sub(/^\*/, "", created[structure])
}
structure && /^ *unsigned int [Ff]lags;/ { create_flags[structure] = member($3) }
structure && /^ *const (CUlaunchConfig|cudaLaunchConfig_t) *\*config;/ { configured[structure] = 1 }
/^\}/ { structure = "" }

function member(text) {
    sub(/;.*/, "", text)
    return text
}

# The name as the traces of others have it: no version of the runtime, no default-stream variant.
function plain(name) {
    sub(/^__/, "", name)
    sub(/_v[0-9][0-9][0-9][0-9]+$/, "", name)
    sub(/_pt[sd][sz]$/, "", name)
    return name
}

# What is recorded unless all is asked for: what starts work, waits for it, or takes its time.
function is_default(name) {
    return name ~ /^cu(da)?Launch/ || name ~ /^cu(da)?Mem(cpy|set)/ ||
        name ~ /Synchronize(_v[0-9])?$/ ||
        name ~ /^cu(da)?Event(Create|Record|Query|Destroy)/ ||
        name ~ /^cu(da)?Stream(Create|Destroy|Query|WaitEvent|WaitValue|WriteValue|BatchMemOp|BeginCapture|EndCapture|AddCallback)/ ||
        name ~ /^cu(da)?(GreenCtx|Ctx)(RecordEvent|WaitEvent|StreamCreate)/ ||
        name ~ /^cuMem(Alloc|Free|HostAlloc|HostRegister|HostUnregister|Create|Release|Map|Unmap|Prefetch)/ ||
        name ~ /^cuda(Malloc|Free|Host(Alloc|Register|Unregister)|MemPrefetch)/ ||
        name ~ /^cu(da)?(Array|Array3D|MipmappedArray)(Create|Destroy)/ ||
        name ~ /^cu(da)?Graph(Instantiate|Upload|ExecUpdate|ExecDestroy|Launch)/ ||
        name ~ /^cuModule(Load|Unload)/ || name ~ /^cu(da)?Library(Load|Unload)/ ||
        name ~ /^cu(Ctx(Create|Destroy|EnablePeerAccess)|DevicePrimaryCtx(Retain|Release|Reset))/ ||
        name ~ /^cuda(DeviceReset|DeviceEnablePeerAccess|InitDevice)/
}

function classify(name,    flags) {
    flags = "0"
    if (is_default(name)) flags = flags " | CTS_CALL_DEFAULT"
    if (name ~ /^cu(da)?Launch/ && name !~ /HostFunc/) flags = flags " | CTS_CALL_LAUNCH"
    if (name ~ /^cu(da)?Launch/ || name ~ /^cu(da)?Mem(cpy|set)/ || name ~ /GraphLaunch/ ||
        name ~ /StreamAddCallback/)
        flags = flags " | CTS_CALL_WORK"
    if (name ~ /Query(_v[0-9])?$/) flags = flags " | CTS_CALL_QUERY"
    if (name ~ /(Query|Synchronize|EventRecord|RecordEvent|WaitEvent)(WithFlags)?(_v[0-9])?$/)
        flags = flags " | CTS_CALL_AT_LEAVE"
    return flags
}

END {
    for (d = 1; d <= 2; d++) {
        domain = d == 1 ? "driver" : "runtime"
        upper = d == 1 ? "DRIVER" : "RUNTIME"
        printf "static const struct cts_cuda_call %s_calls[] = {\n", domain
        for (i = 1; i <= count[domain]; i++) {
            name = calls[domain, i]
            shown = plain(name)
            flags = classify(shown)
            if (name ~ /_pt[sd][sz](_v[0-9]+)?$/) flags = flags " | CTS_CALL_PER_THREAD"
            if (name in configured) flags = flags " | CTS_CALL_CONFIG"
            printf "    [CUPTI_%s_TRACE_CBID_%s] = {\"%s\", %s, %s, %s, %s, %s},\n", upper, name, shown,
                flags, place(name, stream), place(name, event), place(name, created),
                name in created ? place(name, create_flags) : "0"
        }
        print "};"
    }
}

# Where a member is, plus one; 0: there is none.
function place(name, members) {
    return name in members ? "1 + offsetof(" name "_params, " members[name] ")" : "0"
}
