#include "fields.h"

#define MAX_GPUS            16777216 /* 2^24: GPU ids and their links fit 32 bits */
#define MAX_RATE            1e15
#define MAX_SIZE            1e9                                        /* of a model's dimension */
#define CHOICES(...)        ((const char *const[]){__VA_ARGS__, NULL}) /* in the order of the enum */
#define PLACE(type, member) offsetof(type, member), sizeof(((type *)0)->member)

const char *const convention_names[] = {"", "per-link-end", "switch-links", "per-cable", "twin-port", NULL};
const char *const fab_job_kinds[] = {"training", "ranking", "serving", NULL};
const char *const fab_placements[] = {"order", "random", "packed", "scattered", NULL};
const char *const fab_job_collectives[] = {"ring",       "doubling", "halving-doubling", "tree", "mesh", "hierarchical",
                                           "in-network", "nvls",     "nvls-tree",        "auto", "nccl", "best",
                                           "default",    NULL};

const char *const fab_recomputes[] = {"full", "selective", "none", "auto", NULL};
const char *const fab_zeros[] = {"auto", "0", "1", "2", "3", NULL};

/* clang-format off */
#define TEXT(scope, key, kind, type, member, initial, summary) \
    {scope, key, kind, FAB_UNIT_COUNT, PLACE(type, member), 0, 0, false, initial, NULL, NULL, summary}
#define CHOICE(scope, key, type, member, initial, choices, summary) \
    {scope, key, FIELD_CHOICE, FAB_UNIT_COUNT, PLACE(type, member), 0, 0, false, initial, choices, NULL, summary}
#define SHAPE(key, member, shape, summary) \
    {SCOPE_FABRIC, key, FIELD_SHAPE, FAB_UNIT_COUNT, PLACE(fab_fabric_spec, member), 0, 0, false, NULL, NULL, shape, summary}
#define COUNT(scope, key, type, member, min, max, automatic, initial, summary) \
    {scope, key, FIELD_COUNT, FAB_UNIT_COUNT, PLACE(type, member), min, max, automatic, initial, NULL, NULL, summary}
#define QUANTITY(scope, key, unit, type, member, min, max, automatic, initial, summary) \
    {scope, key, FIELD_QUANTITY, unit, PLACE(type, member), min, max, automatic, initial, NULL, NULL, summary}
#define FLAG(scope, key, type, member, initial, summary) \
    {scope, key, FIELD_FLAG, FAB_UNIT_COUNT, PLACE(type, member), 0, 1, false, initial, NULL, NULL, summary}

#define FABRIC_TEXT(key, kind, member, summary) TEXT(SCOPE_FABRIC, key, kind, fab_fabric_spec, member, NULL, summary)
#define FABRIC_CHOICE(key, member, initial, choices, summary) \
    CHOICE(SCOPE_FABRIC, key, fab_fabric_spec, member, initial, choices, summary)
#define DESIGN_TEXT(key, kind, member, summary) TEXT(SCOPE_DESIGN, key, kind, fab_design, member, NULL, summary)
#define FABRIC_COUNT(key, member, min, max, automatic, initial, summary) \
    COUNT(SCOPE_FABRIC, key, fab_fabric_spec, member, min, max, automatic, initial, summary)
#define FABRIC_RATE(key, member, automatic, initial, summary) \
    QUANTITY(SCOPE_FABRIC, key, FAB_UNIT_RATE, fab_fabric_spec, member, 1, MAX_RATE, automatic, initial, summary)
#define FABRIC_BYTES(key, member, min, max, automatic, initial, summary) \
    QUANTITY(SCOPE_FABRIC, key, FAB_UNIT_BYTES, fab_fabric_spec, member, min, max, automatic, initial, summary)
#define FABRIC_TIME(key, member, summary) \
    QUANTITY(SCOPE_FABRIC, key, FAB_UNIT_TIME, fab_fabric_spec, member, 1e-12, 1, true, "auto", summary)
#define TIER_COUNT(key, member, min, max, initial, summary) \
    COUNT(SCOPE_TIER, key, fab_tier_spec, member, min, max, false, initial, summary)
#define FLOOR_COUNT(key, member, automatic, initial, summary) \
    COUNT(SCOPE_FLOOR, key, fab_floor_spec, member, 1, 65535, automatic, initial, summary)
#define FLOOR_POWER(key, member, summary) \
    QUANTITY(SCOPE_FLOOR, key, FAB_UNIT_POWER, fab_floor_spec, member, 1, 1e9, true, "auto", summary)
#define FLOOR_LENGTH(key, member, min, max, initial, summary) \
    QUANTITY(SCOPE_FLOOR, key, FAB_UNIT_LENGTH, fab_floor_spec, member, min, max, false, initial, summary)
#define FAILURE_TIME(key, member, min, automatic, initial, summary) \
    QUANTITY(SCOPE_FAILURES, key, FAB_UNIT_TIME, fab_failure_spec, member, min, 1e12, automatic, initial, summary)
#define FAILURE_MTBF(key, member, summary) FAILURE_TIME(key, member, 1, true, "auto", summary)
#define FAILURE_NUMBER(key, member, min, max, initial, summary) \
    {SCOPE_FAILURES, key, FIELD_DECIMAL, FAB_UNIT_COUNT, PLACE(fab_failure_spec, member), min, max, false, initial, NULL, NULL, summary}
#define JOB_COUNT(key, member, max, automatic, initial, summary) \
    COUNT(SCOPE_JOB, key, fab_job_spec, member, 1, max, automatic, initial, summary)
#define JOB_NUMBER(key, member, max, initial, summary) \
    {SCOPE_JOB, key, FIELD_DECIMAL, FAB_UNIT_COUNT, PLACE(fab_job_spec, member), 0, max, false, initial, NULL, NULL, summary}
#define JOB_OVERLAP(key, member, summary) JOB_NUMBER(key, member, 1, "0", summary ", 0 to 1")
#define JOB_TEXT(key, kind, member, initial, summary) TEXT(SCOPE_JOB, key, kind, fab_job_spec, member, initial, summary)
#define JOB_CHOICE(key, member, initial, choices, summary) \
    CHOICE(SCOPE_JOB, key, fab_job_spec, member, initial, choices, summary)

const field design_fields[] = {
    DESIGN_TEXT("name", FIELD_WORD, name, "name of the design (default: the family)"),
    DESIGN_TEXT("source", FIELD_TEXT, source, "where the figures come from, and which of them are assumptions"),

    FABRIC_TEXT("family", FIELD_WORD, family, "topology family (see list families)"),
    FABRIC_COUNT("gpus", gpus, 1, MAX_GPUS, true, "auto", "GPUs; required, except for a fat-tree with k or xgft, a torus, or a dragonfly with p,a,h"),
    FABRIC_COUNT("gpus-per-server", gpus_per_server, 1, 65535, true, "auto", "GPUs of one server: 8; for a fat-tree with k the largest number up to 8 that divides its k^3/4 NIC ports"),
    FABRIC_COUNT("nics-per-server", nics_per_server, 1, 65535, true, "auto", "NICs of one server; default: gpus-per-server"),
    FABRIC_RATE("nic", nic_bps, false, "400Gb/s", "rate of one NIC, per direction"),
    FABRIC_COUNT("domain", domain, 1, MAX_GPUS, true, "auto", "GPUs per scale-up domain (NVLink); default: gpus-per-server"),
    FABRIC_RATE("domain-rate", domain_bps, true, "450GB/s", "scale-up (NVLink) rate of one GPU, per direction; default, or auto: that of the first job's gpu, 450GB/s without a job"),
    QUANTITY(SCOPE_FABRIC, "domain-latency", FAB_UNIT_TIME, fab_fabric_spec, domain_latency_s, 0, 1, false, "1us", "GPU to GPU inside a scale-up domain (an assumption)"),
    FABRIC_RATE("pcie", pcie_bps, true, "auto", "rate between GPU and NIC, per direction; auto: as fast as the NICs behind it"),
    FABRIC_COUNT("tiers", tiers, 1, FAB_MAX_TIERS, true, "auto", "switch tiers; auto: the smallest number that suffices"),
    FABRIC_COUNT("pod", pod, 1, MAX_GPUS, true, "auto", "GPUs per pod; auto: what the radix of one spine allows"),
    FABRIC_COUNT("planes", planes, 1, 64, false, "1", "parallel planes over which the ports of a NIC are split"),
    FABRIC_COUNT("spares", spares, 0, MAX_GPUS, false, "0", "spare servers, on top of those that gpus fill: at free ports, else behind leaves that give up uplinks for them"),
    FLAG(SCOPE_FABRIC, "full-spares", fab_fabric_spec, full_spares, "no", "spare servers have the uplinks of the taper too, if need be with more switches or a tier more"),
    FABRIC_COUNT("k", k, 2, 406, true, "auto", "fat-tree: arity; k^3/4 NIC ports"),
    SHAPE("xgft", xgft, &xgft_shape, "fat-tree: h;m1,..,mh;w1,..,wh and, for parallel cables, ;p1,..,ph"),
    SHAPE("dragonfly", dragonfly, &dragonfly_shape, "dragonfly: p,a,h[,g[,t]]: NICs per switch, switches per group, global cables per switch, groups, parallel local cables; empty: a = 2p = 2h, the largest that fits the radix"),
    SHAPE("torus", torus, &torus_shape, "torus: switches in each dimension: 4,4,8; a NIC on each where gpus is not given"),
    FABRIC_COUNT("rails-per-switch", rails_per_switch, 1, 65535, true, "auto", "rail-only: rails that share a network; auto: as many as fit a single switch"),
    FABRIC_CHOICE("forward", forward, "source", CHOICES("source", "destination"), "rail-only: whose scale-up domain relays traffic between rails (PXN)"),
    FABRIC_CHOICE("forwarding", forwarding, "pipelined", CHOICES("pipelined", "sequential"), "rail-only: traffic between rails is passed on as it comes, or once it is there as a whole (store and forward)"),

    FABRIC_TEXT("file", FIELD_TEXT, file, "installed: file that says what is installed (see list formats); in a design file from the folder of that"),
    FABRIC_TEXT("format", FIELD_TEXT, format, "installed: format of the file, as --input-format; empty: what its content looks like"),
    FABRIC_TEXT("digest", FIELD_WORD, digest, "installed: digest that the content of the file must have; filled in by import"),
    FABRIC_CHOICE("host-order", host_order, NULL, CHOICES("name", "leaf"), "installed: servers are numbered by name, or leaf by leaf and port by port; empty: name"),
    FABRIC_COUNT("hosts-per-switch", hosts_per_switch, 1, 65535, true, "auto", "installed: hosts to add to every switch of a file without hosts"),
    FABRIC_COUNT("cables", cables, 1, 1024, true, "auto", "installed: cables between two switches of a file that tells only who is below whom (Slurm); auto: 1"),

    FABRIC_CHOICE("reduction", reduction, "none", CHOICES("none", "switch"), "what collectives may leave to the network: switch = its switches add up what they are sent (in-network reduction)"),

    FABRIC_CHOICE("transport", transport.kind, "fluid", CHOICES("fluid", "pfc", "dcqcn", "spray-ack"), "how flows share a link: fluid = max-min fair rates; pfc = packets in lossless queues, first in, first out, whose ingress ports stop their senders (RoCE with PFC, InfiniBand's credits); dcqcn = the same, and senders that slow down when switches mark their packets [Zhu et al., SIGCOMM 2015]; spray-ack = packets over many paths in queues that trim, a window by acknowledgements (as Ultra Ethernet's)"),
    FABRIC_BYTES("mtu", transport.mtu_bytes, 64, 1e6, false, "4096B", "payload of a full packet, under transports of packets as the next two keys, the largest of InfiniBand and RoCE [InfiniBand Architecture Specification 1.4]"),
    FABRIC_CHOICE("wire", transport.wire, "simulator", CHOICES("simulator", "rocev2", "infiniband", "uec", "bare"), "whose headers and acknowledgements packets have, in bytes: simulator = 64 and 64 (csg-htsim); rocev2 = 82 and 86 (Ethernet with preamble and gap 38, IPv4 20, UDP 8, BTH 12, ICRC 4; AETH 4); infiniband = 26 and 30 (LRH 8, BTH 12, ICRC 4, VCRC 2; AETH 4); uec = 122 and 110 (Ethernet, IPv4 and UDP 66, PDS 12, SES 44; ACK_CC 32, response 12 of Ultra Ethernet 1.0); bare = none [csg-htsim@841d9e7, and the standards named]"),
    FABRIC_BYTES("header", transport.header_bytes, 1, 1e4, true, "auto", "headers of a packet; auto: those of the wire [wire]"),
    FABRIC_BYTES("ack", transport.ack_bytes, 1, 1e4, true, "auto", "sent back for every packet; auto: that of the wire [wire]"),
    FABRIC_BYTES("xoff", transport.xoff_bytes, 1, 1e12, false, "60kB", "an ingress port that holds more stops its sender, as 15 packets [csg-htsim, main_roce]"),
    FABRIC_BYTES("xon", transport.xon_bytes, 1, 1e12, true, "auto", "and lets it go on when it holds no more than this; auto: four fifths of xoff, as 12 of 15 packets [csg-htsim, main_roce]"),
    FABRIC_BYTES("buffer", transport.buffer_bytes, 1, 1e12, true, "auto", "of a switch, shared by its ports: each needs xoff and headroom, which is what comes in until the sender has stopped (two cable latencies and two packets); less than all need is refused, because PFC would lose packets; auto: enough [headroom: IEEE 802.1Qbb, annex O]"),
    {SCOPE_FABRIC, "buffer-alpha", FIELD_DECIMAL, FAB_UNIT_COUNT, PLACE(fab_fabric_spec, transport.buffer_alpha), 0, 64, false, "0", NULL, NULL, "an ingress port may hold so many times what is free of the switch's buffer, headroom aside, in place of xoff (a dynamic threshold); xon in proportion; 0: xoff [Choudhury and Hahne 1998]"},
    FABRIC_CHOICE("priority", transport.priority, "shared", CHOICES("shared", "job", "communicator", "receiver"), "which flows have a priority of their own, each with its queue at every port and stopped alone: shared = none; job = those of a job; communicator = those of a communicator (NCCL_IB_TC, NCCL_IB_SL); receiver = those to a GPU [IEEE 802.1Qbb]"),
    FABRIC_COUNT("priorities", transport.priorities, 1, 8, false, "8", "lossless priorities: jobs, communicators or receivers (server number plus number within it) take them in turn, and ports serve them in turn [IEEE 802.1Qbb: eight]"),
    QUANTITY(SCOPE_FABRIC, "nic-latency", FAB_UNIT_TIME, fab_fabric_spec, transport.nic_latency_s, 1e-12, 1, true, "auto", "of both NICs together, for every step that leaves the scale-up domains; auto: 585ns under transports of packets [src/doc/packets.md], nothing under fluid or where step-overhead has it"),

    FABRIC_CHOICE("host", host.kind, "ideal", CHOICES("ideal", "nccl-efa-h100", "nccl-efa-b200", "nccl-roce-h200", "nccl"), "software and NICs of the hosts: ideal = they take no time; nccl-efa-h100, nccl-efa-b200, nccl-roce-h200 = fitted on nccl-tests of such servers, and refused beside a GPU of another generation; nccl = the one of the first job's GPU, refused where none was measured [src/doc/hosts.md, src/doc/adr/0089-collectives-of-nccl.md]"),
    FABRIC_TIME("call-overhead", host.call_s, "of the host's software, for every collective, or other phase, that leaves the scale-up domains: a kernel starts and ends; auto: the host's, as the keys that follow [src/doc/hosts.md]"),
    FABRIC_TIME("step-overhead", host.step_s, "for every dependent step that leaves the domains [src/doc/hosts.md]"),
    FABRIC_TIME("message-overhead", host.message_s, "for every further message that a GPU sends within such a step, one after the other; the time of its first slot where that is longer [src/doc/hosts.md]"),
    FABRIC_BYTES("slot", host.slot_bytes, 1, 1e12, true, "auto", "of the buffers in GPUs: further messages wait until one is full, or all of them is there, and steps where messages have four slots or more [NCCL_BUFFSIZE / NCCL_STEPS]"),
    QUANTITY(SCOPE_FABRIC, "copy-rate", FAB_UNIT_RATE, fab_fabric_spec, host.copy_bps, 1e6, 1e18, true, "auto", "at which a GPU copies what it sends on for others of its scale-up domain, in all-to-alls by rail-aligned and pxn, and between rails of rail-only; auto: half the rate of its memory, which is written and read [its data sheet]"),
    QUANTITY(SCOPE_FABRIC, "nic-efficiency", FAB_UNIT_RATIO, fab_fabric_spec, host.nic_part, 1e-3, 1, true, "auto", "part of a NIC's rate that bytes get, under every transport [src/doc/hosts.md]"),
    FABRIC_BYTES("kmin", transport.kmin_bytes, 0, 1e12, false, "5kB", "a queue that holds no more marks nothing, under transport dcqcn as the keys that follow; defaults as published for 40 Gb/s [Zhu et al.]"),
    FABRIC_BYTES("kmax", transport.kmax_bytes, 1, 1e12, false, "200kB", "a queue that holds more marks every packet [Zhu et al.]"),
    {SCOPE_FABRIC, "pmax", FIELD_DECIMAL, FAB_UNIT_COUNT, PLACE(fab_fabric_spec, transport.pmax), 0, 1, false, "0.01", NULL, NULL, "of the packets that come to a queue of kmax so many are marked; in proportion between kmin and kmax [Zhu et al.]"},
    QUANTITY(SCOPE_FABRIC, "cnp-interval", FAB_UNIT_TIME, fab_fabric_spec, transport.notify_s, 0, 1, false, "50us", "a receiver tells the sender of a flow of marks no more often [Zhu et al.]"),
    {SCOPE_FABRIC, "alpha-gain", FIELD_DECIMAL, FAB_UNIT_COUNT, PLACE(fab_fabric_spec, transport.gain), 1e-6, 0.999, false, "0.00390625", NULL, NULL, "g: how fast a sender's estimate of congestion follows notifications [Zhu et al.]"},
    QUANTITY(SCOPE_FABRIC, "alpha-timer", FAB_UNIT_TIME, fab_fabric_spec, transport.alpha_s, 1e-7, 1, false, "55us", "without a notification, that estimate falls so often [Zhu et al.]"),
    QUANTITY(SCOPE_FABRIC, "rate-timer", FAB_UNIT_TIME, fab_fabric_spec, transport.raise_s, 1e-7, 1, false, "55us", "and a sender raises its rate so often, [Zhu et al.]"),
    FABRIC_BYTES("rate-bytes", transport.raise_bytes, 1e3, 1e12, false, "10MB", "and after every so many bytes [Zhu et al.]"),
    FABRIC_COUNT("recovery-steps", transport.recovery, 1, 1000, false, "5", "F: raises that lead back to the rate before; then rate-ai is added each time, and rate-hai where timer and bytes are both beyond [Zhu et al.]"),
    FABRIC_RATE("rate-ai", transport.additive_bps, true, "auto", "additive increase; auto: a thousandth of the NIC's rate, as the published 40Mb/s of 40Gb/s [Zhu et al.]"),
    FABRIC_RATE("rate-hai", transport.hyper_bps, true, "auto", "hyper increase; auto: a hundredth [not published: an assumption]"),
    FABRIC_RATE("rate-min", transport.least_bps, true, "auto", "no sender slows down further; auto: a thousandth [an assumption]"),
    FABRIC_COUNT("entropies", transport.entropies, 1, 4096, false, "64", "paths that a sender sprays over, under transport spray-ack as the keys that follow: the queue pairs of engine ecmp, unless it has qp [csg-htsim, main_uec]"),
    FABRIC_CHOICE("balancing", transport.balancing, "bitmap", CHOICES("bitmap", "oblivious"), "which path a packet takes: the next one in turn; bitmap = but one that marked or trimmed a packet is passed over once for it [csg-htsim, uec]"),
    FABRIC_BYTES("queue", transport.queue_bytes, 1, 1e12, true, "auto", "of a switch's egress port: what comes when it is full is trimmed and sent again, marks begin at a fifth of it; auto: the bandwidth-delay product of the longest path [csg-htsim, main_uec]"),

    COUNT(SCOPE_FRONT_END, "storage", fab_fabric_spec, storage, 0, MAX_GPUS, false, "0", "storage servers, with as many NICs as a server has there"),

    TIER_COUNT("radix", radix, 1, 65535, "64", "ports of one switch, before breakout; of a torus or dragonfly that says none, and of switches of a list of cables that says none, the smallest of 8, 16, 32 ... 512 that holds the cables (of the switch with most)"),
    QUANTITY(SCOPE_TIER, "port", FAB_UNIT_RATE, fab_tier_spec, port_bps, 1, MAX_RATE, true, "auto", "rate of one port, before breakout; auto: so that a cable below runs at the rate of a NIC port"),
    TIER_COUNT("breakout", breakout, 1, 64, "1", "cables below that one port serves (800G as 2 x 400G)"),
    COUNT(SCOPE_TIER, "down", fab_tier_spec, down, 1, 65535, true, "auto", "most cables below one switch, further ports stay free; auto: what the taper leaves room for"),
    COUNT(SCOPE_TIER, "breakout-up", fab_tier_spec, breakout_up, 1, 64, true, "auto", "cables above that one port serves; auto: as below"),
    QUANTITY(SCOPE_TIER, "taper", FAB_UNIT_RATIO, fab_tier_spec, taper, 1e-4, 1e4, false, "1", "oversubscription: most capacity down : up of one switch, towards the tier above"),
    QUANTITY(SCOPE_TIER, "length", FAB_UNIT_LENGTH, fab_tier_spec, length_m, 1e-6, 1e6, true, "auto", "cable length below this tier; auto: what the floor plan demands, 3m/30m/100m where it decides none (front-ends, installed fabrics, floor.lengths=tier)"),
    QUANTITY(SCOPE_TIER, "latency", FAB_UNIT_TIME, fab_tier_spec, latency_s, 0, 1, false, "600ns", "forwarding latency of one switch (default: an assumption)"),

    CHOICE(SCOPE_FLOOR, "lengths", fab_floor_spec, lengths, "auto", CHOICES("auto", "plan", "tier"), "plan = a cable is as long as the way between its racks; tier = as its tier says, or 3m/30m/100m; auto: plan, but for tiers that have a length"),
    FLOOR_POWER("rack-power", rack_w, "most power of the servers of one rack, switches not counted; auto: no limit"),
    FLOOR_POWER("hall-power", hall_w, "most power of the servers of one hall; auto: no limit"),
    FLOOR_POWER("server-power", server_w, "power of one server; auto: that of its GPUs, of an H100 where none is known, and 575W for each beside it, 10.2kW with eight H100 (an assumption: NVIDIA DGX H100 data sheet)"),
    FLOOR_COUNT("servers-per-rack", servers_per_rack, true, "auto", "servers in one rack; auto: what rack-power allows, without it 40.8kW and at most 4 (an assumption), or the scale-up domain of a GPU that is sold by the rack"),
    FLOOR_COUNT("racks", racks, true, "auto", "racks of servers, filled evenly; auto: as many as servers-per-rack makes"),
    FLOOR_COUNT("switches-per-rack", switches_per_rack, false, "16", "switches in one network rack (default: an assumption)"),
    FLOOR_COUNT("racks-per-row", racks_per_row, false, "16", "racks of servers in one row (default: an assumption)"),
    FLOOR_LENGTH("rack-pitch", rack_pitch_m, 0.1, 10, "0.6m", "from rack to rack within a row"),
    FLOOR_LENGTH("row-pitch", row_pitch_m, 0.1, 100, "3m", "from row to row (default: an assumption)"),
    FLOOR_LENGTH("hall-distance", hall_distance_m, 0, 2e4, "100m", "from a place in one hall to the same place in the next (default: an assumption)"),
    FLOOR_LENGTH("slack", slack_m, 0, 100, "2m", "length that an end of a cable needs to reach the tray; within a rack once, not twice (default: an assumption)"),
    CHOICE(SCOPE_FLOOR, "leaf-at", fab_floor_spec, leaf_at, "auto", CHOICES("auto", "rack", "row", "hall"), "where leaf switches stand: in the rack of their servers, in the middle of its row, or of the hall; auto: rack where all NICs of a server share a leaf, else row. Where rack-power or racks is given, a leaf in a rack of a clos serves that rack alone"),

    JOB_TEXT("id", FIELD_WORD, id, NULL, "name of the job"),
    JOB_CHOICE("kind", kind, "training", fab_job_kinds, "what the job does"),
    JOB_TEXT("model", FIELD_WORD, model, NULL, "model (see list models); empty when the sizes are given"),
    JOB_COUNT("layers", layers, 1e6, true, "auto", "transformer layers; auto: the model's"),
    JOB_COUNT("hidden", hidden, MAX_SIZE, true, "auto", "hidden size; auto: the model's"),
    JOB_COUNT("heads", heads, 1e6, true, "auto", "attention heads; auto: the model's"),
    JOB_COUNT("kv-heads", kv_heads, 1e6, true, "auto", "key-value heads; auto: the model's"),
    JOB_COUNT("ffn", ffn, MAX_SIZE, true, "auto", "feed-forward size; auto: the model's"),
    JOB_COUNT("seq", seq, MAX_SIZE, true, "auto", "tokens per sequence; auto: the model's"),
    JOB_COUNT("vocab", vocab, MAX_SIZE, true, "auto", "vocabulary; auto: the model's"),
    JOB_COUNT("experts", experts, 1e6, true, "auto", "experts per layer; auto: the model's"),
    JOB_COUNT("top-k", top_k, 1e6, true, "auto", "experts that a token visits; auto: the model's, 2 for experts of your own"),
    JOB_COUNT("expert-ffn", expert_ffn, MAX_SIZE, true, "auto", "feed-forward size of one expert; auto: the model's, or ffn"),
    JOB_COUNT("tables", tables, 1e6, true, "auto", "ranking: embedding tables; auto: the model's"),
    JOB_COUNT("rows", rows, 1e12, true, "auto", "ranking: rows of all tables together; auto: the model's"),
    JOB_COUNT("embedding", embedding, 1e6, true, "auto", "ranking: columns of an embedding; auto: the model's"),
    JOB_CHOICE("table-sharding", table_sharding, "even", CHOICES("even", "tables"), "ranking: even: every GPU holds an equal part of everything; tables: table by table, cut by columns, the largest first to the GPU with the fewest lookups"),
    JOB_COUNT("table-group", table_group, MAX_GPUS, true, "auto", "ranking: GPUs that hold all tables together, a divisor of the GPUs; groups repeat them; auto: all"),
    JOB_TEXT("tables-file", FIELD_TEXT, tables_file, NULL, "ranking: file with rows, columns and pooling of a table on each line; empty: the model's"),
    JOB_CHOICE("expert-exchange", expert_exchange, "direct", CHOICES("direct", "hierarchical"), "how tokens reach experts: a copy for each straight to its GPU; hierarchical: one for each scale-up domain over the rail, handed on to every GPU there that has one of its experts, both at once (DeepEP)"),
    JOB_COUNT("expert-groups", expert_groups, 1e6, true, "auto", "with expert-exchange=hierarchical: scale-up domains in which the experts of a token lie at most; auto: all"),
    JOB_NUMBER("expert-skew", expert_skew, 10, "0", "Zipf exponent of how popular experts are: the k-th most popular gets tokens as 1/k^s; 0: all alike"),
    JOB_TEXT("expert-loads", FIELD_TEXT, expert_loads, NULL, "file with a number for each expert on a line: how many tokens choose it, in place of expert-skew; empty: none"),
    JOB_COUNT("dense-parameters", dense_parameters, 1e15, true, "auto", "ranking: parameters outside the tables, on every GPU; auto: the model's"),
    JOB_COUNT("prompt", prompt, MAX_SIZE, true, "auto", "serving: tokens of a prompt; auto: 1024 (an assumption)"),
    JOB_COUNT("tokens", tokens, MAX_SIZE, true, "auto", "serving: tokens generated per sequence; auto: 256 (an assumption)"),
    JOB_NUMBER("request-rate", request_rate, 1e9, "0", "serving: requests per second that arrive at the whole job, at random (Poisson), for the waits of first token and tokens; 0: seven tenths of what can be served"),
    COUNT(SCOPE_JOB, "prefill-replicas", fab_job_spec, prefill_replicas, 0, MAX_GPUS, false, "0", "serving: so many of the dp replicas read prompts, and send keys and values to the others, which generate the tokens; 0: every replica does both"),
    JOB_COUNT("tp", tp, MAX_GPUS, true, "auto", "tensor parallel size; not given: plan=auto, beside other sizes min(8, domain); auto: that of the fastest plan, as of the keys that follow (see plan)"),
    JOB_COUNT("cp", cp, MAX_GPUS, true, "auto", "context parallel size; not given: 1"),
    JOB_COUNT("pp", pp, MAX_GPUS, true, "auto", "pipeline parallel size; not given: the fewest stages that fit"),
    JOB_COUNT("dp", dp, MAX_GPUS, true, "auto", "data parallel size; not given: the rest of the GPUs"),
    JOB_COUNT("ep", ep, MAX_GPUS, true, "auto", "expert parallel size, a divisor of dp x cp; not given: the published one of the model, or the largest below that the sizes allow (own experts: as many as they are)"),
    JOB_COUNT("microbatch", microbatch, 1e6, true, "1", "sequences per microbatch; auto: the fastest of 1, 2, 4 and 8 that fits"),
    JOB_COUNT("interleave", interleave, 65535, true, "1", "pipeline chunks per GPU; auto: the fastest, of unequal layers too"),
    JOB_CHOICE("plan", plan, "default", CHOICES("default", "given", "auto"), "auto: every one of tp, cp, pp, dp, ep, interleave, microbatch, recompute, zero and sequence-parallel that is not given is chosen: the fastest plan that fits (see plan); given: what is not given has the default of its key; default: auto where none of tp, cp, pp, dp and ep is given, else given"),
    JOB_COUNT("batch", batch, MAX_SIZE, true, "auto", "sequences per iteration, of the whole job: each of the dp replicas has batch/dp of them (serving with prefill-replicas: each that generates has its part); auto: as many tokens as the model's, rounded down to what its GPUs, and then its sizes, divide; the report says so; serving: the fewest sequences that go with its sizes, doubled while that leaves memory-headroom, at most 256 a replica, which is vLLM's --max-num-seqs by default (its documentation, Engine Arguments, 0.6)"),
    JOB_TEXT("gpu", FIELD_TEXT, gpu, FAB_DEFAULT_GPU, "accelerator (see list gpus), or a file: with '/' or ending in .xml"),
    JOB_CHOICE("precision", precision, "auto", fab_precisions, "elements of the matrices that layers multiply; attention, logits and sums stay 16 bits wide; auto: bf16, or fp16 on a GPU without it"),
    JOB_CHOICE("recompute", recompute, "full", fab_recomputes, "activation recomputation; auto: the plan's"),
    FLAG(SCOPE_JOB, "recompute-traffic", fab_job_spec, recompute_traffic, "no", "count what a full recomputation sends again (Megatron-LM's formulas do not)"),
    FLAG(SCOPE_JOB, "sequence-parallel", fab_job_spec, sequence_parallel, "no", "tensor parallel by reduce-scatter and all-gather: the same bytes, activations split over tp"),
    JOB_CHOICE("attention", attention, "auto", CHOICES("auto", "flash", "standard"), "whether attention scores are kept for the backward pass (standard); auto: flash for gated models"),
    JOB_CHOICE("cp-exchange", cp_exchange, "all-gather", CHOICES("all-gather", "ring"), "how context parallel ranks exchange keys and values"),
    JOB_COUNT("activation-bytes", activation_bytes, 64, false, "2", "bytes of an element sent by tensor and pipeline parallelism"),
    JOB_COUNT("dispatch-bytes", dispatch_bytes, 64, true, "auto", "bytes of an element sent to or from an expert; auto: activation-bytes"),
    JOB_COUNT("gradient-bytes", gradient_bytes, 64, false, "4", "bytes of a gradient in the data-parallel reduction"),
    JOB_COUNT("parameter-bytes", parameter_bytes, 64, false, "2", "bytes of a parameter in the sharded all-gather"),
    JOB_COUNT("optimizer-bytes", optimizer_bytes, 64, false, "12", "bytes of optimizer state per parameter: fp32 master copy and two Adam moments"),
    FLAG(SCOPE_JOB, "sharded", fab_job_spec, sharded, "no", "data parallel by reduce-scatter and all-gather instead of all-reduce: another way to say zero=1"),
    JOB_CHOICE("zero", zero, "auto", fab_zeros, "what data parallel copies share: 1 states of the optimizer, 2 gradients too, 3 weights too (FSDP); not given: 1 where sharded, else 0; auto: the plan's"),
    JOB_TEXT("shard-over", FIELD_WORD, shard_over, "all", "copies that share a state: all, domain (those in one scale-up domain), or a number; further copies repeat it and add their gradients up (hybrid sharding)"),
    JOB_CHOICE("shard-exchange", shard_exchange, "auto", CHOICES("auto", "microbatch", "iteration"), "how often sharded gradients are reduced and sharded weights gathered; iteration: once, chunk by chunk, all microbatches of a chunk in a row; auto: microbatch"),
    JOB_CHOICE("offload", offload, "none", CHOICES("none", "optimizer"), "what is kept in the memory of the host: states of the optimizer, which works there, and with zero=2 or 3 the gradients"),
    QUANTITY(SCOPE_JOB, "offload-rate", FAB_UNIT_RATE, fab_job_spec, offload_bps, 1, MAX_RATE, false, "55.4GB/s", "rate between a GPU and its host, per direction (default: measured on PCIe 5 x16)"),
    QUANTITY(SCOPE_JOB, "host-memory-rate", FAB_UNIT_RATE, fab_job_spec, host_memory_bps, 1, MAX_RATE, false, "60GB/s", "memory rate of the host for each GPU (default: an assumption, four fifths of 16 channels of DDR5-4800 over eight GPUs)"),
    COUNT(SCOPE_JOB, "lora-rank", fab_job_spec, lora_rank, 0, 65536, false, "0", "rank of low-rank adapters that are trained while the weights are frozen; 0: the weights are trained"),
    JOB_CHOICE("lora-matrices", lora_matrices, "query-value", CHOICES("query-value", "attention", "all"), "matrices that have an adapter; all: feed-forward ones and experts too"),
    FLAG(SCOPE_JOB, "scatter-gather", fab_job_spec, scatter_gather, "yes", "pipeline sends 1/tp per pair of GPUs"),
    JOB_OVERLAP("tp-overlap", tp_overlap, "tensor-parallel communication hidden behind computation"),
    JOB_OVERLAP("cp-overlap", cp_overlap, "the same of context parallelism"),
    JOB_OVERLAP("pp-overlap", pp_overlap, "the same of pipeline parallelism"),
    JOB_OVERLAP("ep-overlap", ep_overlap, "the same of expert parallelism"),
    JOB_OVERLAP("dp-overlap", dp_overlap, "the same of data parallelism"),
    JOB_NUMBER("power-compute", compute_power, 1, "1", "power of a GPU that computes, over that of its data sheet, 0 to 1 (default: peaks of training reach it)"),
    JOB_NUMBER("power-communicate", communicate_power, 1, "0.5", "the same of one that sends and receives and computes nothing (default: an assumption; between iterations 0.2 to 0.75 were measured)"),
    JOB_NUMBER("power-idle", idle_power, 1, "0.2", "the same of one that waits"),
    JOB_CHOICE("schedule", schedule, "1f1b", CHOICES("1f1b", "zero-bubble"), "order of a stage's passes: one forward, one backward (interleaved where a GPU has several chunks), or gradients of weights where a stage would wait"),
    FLAG(SCOPE_JOB, "embedding-as-layer", fab_job_spec, embedding_as_layer, "no", "embedding and loss count as a layer each when layers are spread over stages"),
    JOB_TEXT("stage-layers", FIELD_LIST, stage_layers, NULL, "layers of each pipeline stage, 7:8:8:7; empty: as even as possible, fewer on the first and last"),
    {SCOPE_JOB, "gpu-hour-usd", FIELD_DECIMAL, FAB_UNIT_COUNT, PLACE(fab_job_spec, gpu_hour_usd), 1e-6, 1e6, true, "auto", NULL, NULL, "price of one GPU for an hour, without the network; auto: that of list gpus"},
    JOB_NUMBER("published-tflops", published_tflops, 1e6, "0", "TFLOP/s per GPU that a published run of this job reached, shown beside ours"),
    QUANTITY(SCOPE_JOB, "published-pipeline-bisection", FAB_UNIT_RATE, fab_job_spec, published_pipeline_bps, 0, 1e18, false, "0b/s", "the same of its bandwidth between the halves of the stages"),
    QUANTITY(SCOPE_JOB, "published-data-bisection", FAB_UNIT_RATE, fab_job_spec, published_data_bps, 0, 1e18, false, "0b/s", "the same of its bandwidth between the halves of the replicas"),
    JOB_NUMBER("train-tokens", train_tokens, 1e18, "0", "tokens to train on, for days and dollars; 0: not asked"),
    JOB_CHOICE("tp-collective", tp_collective, "ring", fab_job_collectives, "algorithm of the tensor-parallel all-reduce (see list patterns); auto: the fastest by the cost model; nccl: what NCCL takes; best: the fastest by replays"),
    JOB_CHOICE("dp-collective", dp_collective, "default", fab_job_collectives, "algorithm of the data-parallel collectives; sharded, halving-doubling is halving and then doubling; default: ring, in ranking what NCCL takes (a tree where nothing is known of the GPU)"),
    JOB_TEXT("order", FIELD_WORD, order, "tp-cp-pp-dp", "rank order of the dimensions, innermost first"),
    JOB_CHOICE("placement", placement, "order", fab_placements, "order of the servers: as listed, drawn, pods filled one by one, or pods in turn"),
    COUNT(SCOPE_JOB, "placement-seed", fab_job_spec, placement_seed, 0, 1e9, false, "0", "seed of a random placement"),
    JOB_COUNT("gpus", gpus, MAX_GPUS, true, "auto", "GPUs the job takes, in whole servers; auto: all"),
    JOB_COUNT("n-servers", n_servers, MAX_GPUS, true, "auto", "servers the job takes; auto: all"),
    JOB_TEXT("servers", FIELD_SERVERS, servers, NULL, "servers the job may run on, in this order: 0-15,20,32-62:2; empty: all but spares and storage servers"),
    JOB_TEXT("storage-servers", FIELD_SERVERS, storage_servers, NULL, "servers of this network that take checkpoints and hold the data: adds the phases checkpoint and ingest"),
    JOB_TEXT("contends", FIELD_WORD, contends, NULL, "with several jobs: the phase that overlaps in time with those of the others, or none; empty: the network phase that takes longest alone"),
    JOB_COUNT("sample-bytes", sample_bytes, 1e12, true, "auto", "bytes read per sequence or sample; auto: 4 per token or table"),
    JOB_CHOICE("memory-check", memory_check, "auto", CHOICES("auto", "on", "off"), "refuse a job that does not fit its GPUs; auto: where the model or its sizes are given"),
    JOB_NUMBER("memory-headroom", memory_headroom, 0.9, "0.1", "part of a GPU's memory that a plan which is chosen leaves free (default: an assumption, for context, communication buffers and fragmentation)"),

    TEXT(SCOPE_ENGINE, "use", FIELD_TEXT, fab_engine_spec, text, NULL, "routing engine: name[,key=value...]"),
    CHOICE(SCOPE_FAILURES, "set", fab_failure_spec, set, "llama3", CHOICES("llama3", "hpn", "megascale", "rsc-1", "rsc-2", "none"), "published rates of failures in histories (src/doc/manual/failures.md has figures and sources)"),
    FAILURE_MTBF("link-mtbf", mtbf_s[FAB_FAILURE_LINK], "time between failures of one network cable; auto: the set's, as the keys that follow"),
    FAILURE_MTBF("switch-mtbf", mtbf_s[FAB_FAILURE_SWITCH], "the same of one switch"),
    FAILURE_MTBF("nic-mtbf", mtbf_s[FAB_FAILURE_NIC], "the same of one NIC"),
    FAILURE_MTBF("gpu-mtbf", mtbf_s[FAB_FAILURE_GPU], "the same of one GPU, its memory included"),
    FAILURE_MTBF("server-mtbf", mtbf_s[FAB_FAILURE_SERVER], "the same of one server, GPUs and NICs left out"),
    FAILURE_MTBF("software-mtbf", mtbf_s[FAB_FAILURE_SOFTWARE], "the same of the job's software, for one GPU of the job: they stop it, nothing is broken"),
    FAILURE_MTBF("maintenance-mtbf", mtbf_s[FAB_FAILURE_MAINTENANCE], "between planned stops, for one GPU of the job: it writes a checkpoint before"),
    FAILURE_TIME("link-repair", rates.repair_s[FAB_FAILURE_LINK], 0, false, "4h", "a cable is back after (default: an assumption, as the keys that follow)"),
    FAILURE_TIME("switch-repair", rates.repair_s[FAB_FAILURE_SWITCH], 0, false, "4h", "a switch is back after"),
    FAILURE_TIME("nic-repair", rates.repair_s[FAB_FAILURE_NIC], 0, false, "24h", "a NIC is back after"),
    FAILURE_TIME("gpu-repair", rates.repair_s[FAB_FAILURE_GPU], 0, false, "24h", "a GPU is back after"),
    FAILURE_TIME("server-repair", rates.repair_s[FAB_FAILURE_SERVER], 0, false, "24h", "a server is back after"),
    FAILURE_TIME("maintenance-time", rates.repair_s[FAB_FAILURE_MAINTENANCE], 0, false, "10min", "a planned stop takes, before the job restarts"),
    {SCOPE_FAILURES, "slow-mtbf", FIELD_QUANTITY, FAB_UNIT_TIME, PLACE(fab_failure_spec, mtbf_s[FAB_FAILURE_SLOW]), 1, 1e12, true, "auto", NULL, NULL, "soft errors: time until one GPU slows down, and everybody waits for it; auto: none do (no rates are published)"},
    FAILURE_NUMBER("slow-speed", rates.slow_speed, 0.001, 0.999, "0.5", "speed that is left of it, 0.001 to 0.999 (default: the worst that is known of)"),
    FAILURE_TIME("slow-time", rates.repair_s[FAB_FAILURE_SLOW], 1, false, "7d", "it lasts as long where nobody notices (an assumption)"),
    {SCOPE_FAILURES, "flap-mtbf", FIELD_QUANTITY, FAB_UNIT_TIME, PLACE(fab_failure_spec, mtbf_s[FAB_FAILURE_FLAP]), 1, 1e12, true, "auto", NULL, NULL, "time until one cable flaps or is degraded, and who crosses it waits for it; auto: none does (no rates are published)"},
    FAILURE_NUMBER("flap-speed", rates.flap_speed, 0.001, 0.999, "0.5", "part of its capacity that is left on average, 0.001 to 0.999 (an assumption)"),
    FAILURE_TIME("flap-time", rates.repair_s[FAB_FAILURE_FLAP], 1, false, "1d", "it lasts as long where nobody notices (an assumption)"),
    FAILURE_NUMBER("throttle", rates.throttle, 0, 0.5, "0", "part of their speed that GPUs lose at noon to heat, less in the other hours from 6 to 18 h; 0.01 to 0.02 in Llama 3 [arXiv 2407.21783, 3.3.4]"),
    TEXT(SCOPE_FAILURES, "throttle-halls", FIELD_LIST, fab_failure_spec, throttle_halls, NULL, "halls of the floor plan that are as hot, from 0, such as 0,2-3: a job with a rank there waits for it; empty: all"),
    FAILURE_NUMBER("detect-loss", rates.detect_loss, 0, 1, "0.05", "a GPU or cable that loses so much of its speed is noticed and replaced as a dead one; 1: none is"),
    FAILURE_TIME("detect-time", rates.detect_s, 0, false, "1h", "after this time (default: an assumption)"),
    FAILURE_NUMBER("rma-part", rates.rma_part, 0, 1, "0", "part of the failures of hardware that go back to the maker, 0 to 1"),
    FAILURE_TIME("rma-time", rates.rma_s, 0, false, "14d", "these are back after"),
    FAILURE_NUMBER("infant-factor", rates.infant_factor, 1, 1000, "1", "infant mortality: at the beginning of a history hardware fails so many times as often"),
    FAILURE_TIME("infant-time", rates.infant_s, 1, false, "30d", "that excess falls to 1/e of it in this time"),
    FAILURE_TIME("checkpoint", rates.checkpoint_s, 1, true, "auto", "useful time between two checkpoints; auto: what loses least under this very model (Young, Daly)"),
    CHOICE(SCOPE_FAILURES, "checkpoint-mode", fab_failure_spec, mode, "sync", CHOICES("sync", "async", "memory"), "sync: the job stands while a checkpoint is written; async: while it is copied to the host; memory: likewise, and the copy goes to another server by its NIC, not to storage"),
    FAILURE_TIME("checkpoint-write", write_s, 0, true, "auto", "until a checkpoint is written and counts; auto: its bytes over checkpoint-rate"),
    QUANTITY(SCOPE_FAILURES, "checkpoint-rate", FAB_UNIT_RATE, fab_failure_spec, write_bps, 1, MAX_RATE, false, "1Gb/s", "at which each GPU of the job writes (default: 2 TB/s of storage for 16,384 GPUs of Llama 3)"),
    FAILURE_TIME("restart", rates.restart_s, 0, false, "10min", "from a failure until the job runs again, detection included (default: an assumption)"),
    FAILURE_TIME("spare-join", rates.join_s, 0, false, "0s", "a restart takes longer by this where ranks move to spares; 0: the spares are hot"),
    FAILURE_TIME("reform", rates.reform_s, 0, true, "auto", "policy shrink: until the job runs again with fewer replicas, or with more again; auto: restart"),
    {SCOPE_FAILURES, "regrow", FIELD_DECIMAL, FAB_UNIT_COUNT, PLACE(fab_failure_spec, rates.regrow), 1e-9, 1, true, "auto", NULL, NULL, "policy shrink: the job stops to take replicas back where they are this part of all, or at its next stop; auto: where that gains more than it costs until then, as ranks on spares go home"},
    FLAG(SCOPE_FAILURES, "keep-batch", fab_failure_spec, keep_batch, "yes", "policy shrink: the replicas that are left do all of the batch; no: each does what it did, and an iteration has fewer tokens"),

    TEXT(SCOPE_PRICES, "profile", FIELD_TEXT, fab_design, prices, NULL, "price book: name of a profile, or a file"),
    CHOICE(SCOPE_PRICES, "convention", fab_design, convention, NULL, convention_names, "which cables and transceivers are counted; default: as the price book says"),
    {.key = NULL},
};
/* clang-format on */

_Static_assert(FAB_N_OF(design_fields) <= MAX_FIELDS, "raise MAX_FIELDS");

const field *design_field_find(field_scope scope, const char *key) {
    const field *f = design_fields;
    FAB_FIRST(i, SIZE_MAX, f[i].key == NULL || (f[i].scope == scope && strcmp(f[i].key, key) == 0));
    return f[i].key != NULL ? &f[i] : NULL;
}

const field *design_field_any(const field_scope *scopes, size_t n, const char *key) {
    const field *f = NULL;
    for (size_t i = 0; i < n && f == NULL; i++) {
        f = design_field_find(scopes[i], key);
    }
    return f;
}

bool fab_design_is_default(const fab_fabric_spec *spec, const char *key) {
    const field *f = design_field_find(SCOPE_FABRIC, key);
    return f != NULL && field_is_default(f, spec);
}

size_t design_field_index(const field *f) {
    return (size_t)(f - design_fields);
}
