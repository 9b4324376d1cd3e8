-- The catalogue of a run directory: run.db, format version 1. Times are ns of CLOCK_MONOTONIC on
-- the recording host, addresses and sizes are bytes. docs/catalogue.md says it for users; the two
-- change together. `op` numbers what the host asked for, in the order of the calls, over all tables
-- of a rank: launches, copies, allocations, frees, event records, waits and synchronisations.
CREATE TABLE run (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE ranks (
    rank INTEGER PRIMARY KEY, pid INTEGER, host TEXT, program TEXT, arguments TEXT, directory TEXT,
    recorder TEXT,              -- 'cpu', 'cuda', 'inject', 'import', 'timeline'
    start_ns INTEGER, end_ns INTEGER, -- end NULL: the process did not exit normally
    unix_start_ns INTEGER,      -- wall clock at start_ns
    records INTEGER, accesses INTEGER, dropped_records INTEGER, dropped_accesses INTEGER,
    failure TEXT);              -- the first failure while recording
CREATE TABLE devices (
    rank INTEGER, device INTEGER, name TEXT, kind TEXT, -- kind 'cpu' or 'gpu'
    sm_count INTEGER, memory_bytes INTEGER, compute_major INTEGER, compute_minor INTEGER,
    PRIMARY KEY (rank, device)) WITHOUT ROWID;
CREATE TABLE modules (module INTEGER PRIMARY KEY, rank INTEGER, name TEXT, checksum TEXT,
    flags INTEGER);
CREATE TABLE sources (source INTEGER PRIMARY KEY, module INTEGER, path TEXT, text TEXT);
CREATE TABLE kernels (
    kernel INTEGER PRIMARY KEY, module INTEGER, name TEXT, mangled TEXT, source INTEGER,
    line INTEGER, static_shared_bytes INTEGER, max_threads INTEGER, registers INTEGER,
    instrumented INTEGER);
CREATE TABLE sites (
    site INTEGER PRIMARY KEY, module INTEGER, function TEXT,
    operation INTEGER, space INTEGER, width_bytes INTEGER, -- trace/access.h; 'dump' prints words
    source INTEGER, line INTEGER, column INTEGER, inlined_at TEXT, type TEXT, variable TEXT,
    is_volatile INTEGER, loop_depth INTEGER);
CREATE TABLE variables (
    variable INTEGER PRIMARY KEY, module INTEGER, name TEXT, mangled TEXT, type TEXT, kind TEXT,
    address INTEGER, size_bytes INTEGER, function TEXT, source INTEGER, line INTEGER);
CREATE TABLE skipped (module INTEGER, what TEXT, reason TEXT, source INTEGER, line INTEGER,
    count INTEGER);
CREATE TABLE streams (
    stream INTEGER PRIMARY KEY, rank INTEGER, device INTEGER, handle INTEGER,
    kind TEXT,                  -- 'legacy default', 'per-thread default', 'blocking', 'non-blocking'
    priority INTEGER, created_op INTEGER, destroyed_op INTEGER);
CREATE TABLE launches (
    launch INTEGER PRIMARY KEY, rank INTEGER, op INTEGER, device INTEGER, stream INTEGER,
    ordinal INTEGER,            -- the how-manieth launch of its stream, from 0
    kernel INTEGER, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,
    block_x INTEGER, block_y INTEGER, block_z INTEGER, dynamic_shared_bytes INTEGER,
    cooperative INTEGER,
    recorded TEXT,              -- 'all', 'sample' (of CTAs), 'none'
    call_ns INTEGER, start_ns INTEGER, end_ns INTEGER,
    records INTEGER, accesses INTEGER, dropped_accesses INTEGER);
CREATE INDEX launches_op ON launches (rank, op);
CREATE TABLE copies (           -- copies and memsets
    copy INTEGER PRIMARY KEY, rank INTEGER, op INTEGER, device INTEGER, stream INTEGER,
    kind TEXT,                  -- 'HtoD', 'DtoH', 'DtoD', 'HtoH', 'memset', 'PtoP'
    destination INTEGER, source INTEGER,
    width_bytes INTEGER, height INTEGER, depth INTEGER, -- 1-D: height = depth = 1
    destination_pitch INTEGER, source_pitch INTEGER,    -- bytes from row to row
    destination_slice INTEGER, source_slice INTEGER,    -- bytes from plane to plane
    asynchronous INTEGER, call_ns INTEGER, start_ns INTEGER, end_ns INTEGER);
CREATE TABLE allocations (
    allocation INTEGER PRIMARY KEY, rank INTEGER, op INTEGER, freed_op INTEGER, device INTEGER,
    address INTEGER, size_bytes INTEGER,
    kind TEXT,                  -- 'device', 'managed', 'pinned', 'mapped', 'array', 'variable'
    call TEXT,                  -- the API call
    variable TEXT, type TEXT, element_bytes INTEGER, path TEXT, line INTEGER, column INTEGER,
    function TEXT);
CREATE INDEX allocations_address ON allocations (rank, address);
CREATE TABLE syncs (            -- events, waits, synchronisations: what orders streams
    rank INTEGER, op INTEGER,
    kind TEXT,                  -- 'event record', 'stream wait', 'event sync', 'stream sync',
                                -- 'device sync', 'event query', 'stream query'
    stream INTEGER, event INTEGER, -- event: handle; NULL where there is none
    result INTEGER, start_ns INTEGER, end_ns INTEGER,
    PRIMARY KEY (rank, op)) WITHOUT ROWID;
CREATE TABLE calls (            -- the host thread of each op
    rank INTEGER, op INTEGER,
    thread INTEGER,             -- host thread, from 0 in the order of their first calls
    device INTEGER,             -- the thread's current device
    stream INTEGER,             -- of stream-ordered allocations and frees; else NULL
    api TEXT,                   -- the API function that the program called; NULL: none
    PRIMARY KEY (rank, op)) WITHOUT ROWID;
CREATE TABLE host_functions (   -- functions of the host that ran in the order of a stream
    rank INTEGER, op INTEGER, stream INTEGER, thread INTEGER,
    begin_op INTEGER, end_op INTEGER, -- the thread's ops while it ran lie in between
    PRIMARY KEY (rank, op)) WITHOUT ROWID;
CREATE TABLE thread_order (     -- host threads that synchronised with each other
    rank INTEGER, op INTEGER,
    after INTEGER);             -- an op of another thread: that thread was past it before op began
CREATE TABLE graph_nodes (      -- launches, copies and host functions that a graph's launch requested
    rank INTEGER, op INTEGER,
    graph INTEGER,              -- executable graph, counted from 1
    launch_op INTEGER,          -- op of the graph's launch
    node INTEGER,               -- in the graph, from 0
    PRIMARY KEY (rank, op)) WITHOUT ROWID;
CREATE TABLE graph_edges (      -- node follows after; after < node
    rank INTEGER, graph INTEGER, node INTEGER, after INTEGER);
CREATE TABLE host_accesses (    -- with --host-accesses: ranges that the CPU touched between two ops
    rank INTEGER, op INTEGER, is_store INTEGER, address INTEGER, size_bytes INTEGER);
CREATE TABLE cta_sms (launch INTEGER, cta INTEGER, sm INTEGER); -- where CTAs ran, as far as known
CREATE TABLE clusters (          -- of CTAs, where a launch has more than one in a cluster
    launch INTEGER, cluster_x INTEGER, cluster_y INTEGER, cluster_z INTEGER);
CREATE TABLE launch_pointers (    -- arguments of launches of which not all stores are recorded
    launch INTEGER, address INTEGER); -- a word that may be an address
CREATE TABLE tensor_maps (       -- tensors that a launch may copy by TMA: maps among its parameters
    launch INTEGER,
    parameter_bytes INTEGER,    -- offset of the map in the kernel's parameters
    address INTEGER,
    element_type TEXT, element_bytes INTEGER,
    dimensions INTEGER,         -- 1 to 5
    size_0 INTEGER, size_1 INTEGER, size_2 INTEGER, size_3 INTEGER, size_4 INTEGER, -- elements
    stride_0 INTEGER, stride_1 INTEGER, stride_2 INTEGER, stride_3 INTEGER, stride_4 INTEGER, -- bytes
    box_0 INTEGER, box_1 INTEGER, box_2 INTEGER, box_3 INTEGER, box_4 INTEGER, -- elements a copy
    swizzle_bytes INTEGER, interleaved INTEGER, im2col INTEGER,
    may_load INTEGER, may_store INTEGER); -- what the kernel has instructions for
CREATE TABLE padded_types (      -- record types with bytes that hold no value, of the sites' variables
    module INTEGER, type TEXT, size_bytes INTEGER,
    padding TEXT,               -- ranges of bytes that no member covers: '1-3,18-23'; NULL: none
    alternatives TEXT);         -- ranges that some members of a union cover and others do not
CREATE TABLE fingerprints (      -- of launches, where values were hashed (record --hash)
    launch INTEGER, hash INTEGER,
    accesses INTEGER);          -- thread accesses to global memory that the hash covers
CREATE TABLE endings (           -- how a process ended, and what is known to be complete
    rank INTEGER PRIMARY KEY,
    how TEXT,                   -- 'closed', 'exit', 'signal', 'unknown'
    status INTEGER,             -- exit status or signal; NULL: not known
    launches_asked INTEGER, launches_complete INTEGER, rows_lost INTEGER);
CREATE TABLE faults (            -- launches that ended in an error of the device
    rank INTEGER, launch INTEGER,
    kind TEXT,                  -- 'address', 'misaligned', 'trap', 'assert', 'barrier', 'stack',
                                -- 'arithmetic', 'deadlock', 'memory', 'unknown'
    cta_x INTEGER, cta_y INTEGER, cta_z INTEGER, -- NULL: not known, as of the thread
    thread_x INTEGER, thread_y INTEGER, thread_z INTEGER,
    address INTEGER,            -- NULL: none, or not known
    path TEXT, line INTEGER,    -- of the instruction
    allocation INTEGER,         -- that has the address, or is nearest
    text TEXT);
CREATE TABLE access_files (      -- what was written into rank-N/K.acc
    rank INTEGER, file INTEGER, chunks INTEGER, records INTEGER, accesses INTEGER,
    size_bytes INTEGER, UNIQUE (rank, file));
CREATE TABLE messages (rank INTEGER, severity TEXT, text TEXT); -- what the recorder had to say
CREATE TABLE files (             -- what the run held when it was sealed, at the end of its recording
    path TEXT, size_bytes INTEGER,
    checksum INTEGER,           -- CRC-32C of a timeline's file; NULL: the file has its own
    chunks INTEGER, records INTEGER, accesses INTEGER); -- of an access file
CREATE TABLE checksums (name TEXT, columns TEXT, rows INTEGER, checksum TEXT); -- of tables
