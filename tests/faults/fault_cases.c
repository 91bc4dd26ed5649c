#include "fault_cases.h"

#define CLOS   "clos:gpus=8,gpus-per-server=2,radix=4"
#define SPARE  CLOS ",spares=1"
#define RAIL   "rail-spine:gpus=16,gpus-per-server=4,nics-per-server=2,radix=4,domain=8"
#define RING   " --traffic pattern:ring"
#define ROUTE  "route " CLOS RING
#define COMMON " --threads 1 --quiet"
#define TINY   "layers=2,hidden=512,heads=2,seq=512,vocab=1000,batch=8,tp=2" /* whose packets take milliseconds */
#define SMALL  " --set fabric.gpus=8 --job memory-check=off"
#define PLAN   "study plan " SPARE RING " --scenarios links:1 --store st --quiet"
#define ALIKE                                                                                                          \
    "study plan " CLOS                                                                                                 \
    " --traffic pattern:all-to-all --engine spray --scenarios links:2@classes --figures p99 --store st --quiet"
#define RUN    "study run --store st" COMMON
#define HALF   "study run --store st --shard 1/2" COMMON
#define GATHER "study gather --store st --quiet"

/* Files that it reads stand in tests/data, seeds of the fuzzer in tests/fuzz. */
#define SEED "../fuzz/corpus/"

#define PRINTS(name, line)                                                                                             \
    { name, {NULL}, line, NULL, false }
#define READS(name, data, line)                                                                                        \
    { name, {NULL}, line, data, false }
#define AFTER(name, first, line)                                                                                       \
    { name, {first, NULL}, line, NULL, false }
#define STUDY(name, first, then, line)                                                                                 \
    { name, {first, then, NULL}, line, NULL, true }
#define RESULTS(name, plan, line)                                                                                      \
    { name, {plan, RUN, GATHER, NULL}, line, NULL, true }
#define FORMAT(name, design)                                                                                           \
    { "format-" name, {NULL}, "build " design " --format " name " --quiet", NULL, false }
#define NETWORK(name)                                                                                                  \
    {"audit-" name, {NULL}, "audit " name " --quiet", "sites/" name, false}, {                                         \
        "import-" name, {NULL}, "import " name " --output d.xml --quiet", "sites/" name, false                         \
    }

#define COUNTERS(name)                                                                                                 \
    { "observe-" name, {NULL}, "observe " CLOS RING " --engine spray --counters " name COMMON, "counters/" name, false }

const fault_case fault_cases[] = {
    /* what the program says about itself */
    PRINTS("version", "version"),
    PRINTS("help", "help run"),
    PRINTS("help-all", "help"),
    PRINTS("help-study", "study run --help"),
    PRINTS("man", "help route --man"),
    PRINTS("top", "top --help"), /* which needs a terminal; tests/unit/cli runs the rest of it */
    PRINTS("completion", "help --completion bash"),
    PRINTS("completion-zsh", "help --completion zsh"),
    PRINTS("completion-fish", "help --completion fish"),
    PRINTS("list", "list"),
    PRINTS("list-presets", "list presets --json"),
    PRINTS("list-preset", "list presets llama3-talk-racks"),
    PRINTS("list-file", "list prices today-400g --file"),
    PRINTS("list-models", "list models"),
    PRINTS("list-ranking", "list ranking"),
    PRINTS("list-gpus", "list gpus"),
    PRINTS("list-families", "list families"),
    PRINTS("list-engines", "list engines"),
    PRINTS("list-patterns", "list patterns"),
    PRINTS("list-scenarios", "list scenarios"),
    PRINTS("list-prices", "list prices"),
    PRINTS("list-catalogs", "list catalogs"),
    PRINTS("list-published", "list published"),
    PRINTS("list-fields", "list fields"),
    PRINTS("list-formats", "list formats"),
    PRINTS("schema-design", "schema design"),
    PRINTS("schema-prices", "schema prices"),
    PRINTS("schema-catalog", "schema catalog"),
    PRINTS("schema-result", "schema result"),
    PRINTS("schema-report", "schema report"),
    PRINTS("explain", "explain max_collision_factor"),
    PRINTS("explain-all", "explain"),
    READS("explain-server", SEED "server/two_gpus", "explain server:two_gpus"),
    PRINTS("validate", "validate dragonfly --json --quiet"),
    /* build */
    PRINTS("build", "build " CLOS ",taper=2 --json --quiet"),
    PRINTS("build-text",
           "build " CLOS " --seed 2 --threads 2 --color always --conventions --max-memory 2GB --max-time 100s"),
    PRINTS("build-preset", "build preset:llama3-talk-racks --set fabric.taper.1=2 --format xml --quiet"),
    READS("build-file", "two_jobs.xml", "build two_jobs.xml --json --quiet"),
    READS("build-front-end", "front_end.xml", "build front_end.xml --quiet"),
    READS("build-installed", "sites/cables", "build installed:cables --json --quiet"),
    READS("build-server", SEED "server/two_gpus", "build clos:gpus=8,radix=4,server=two_gpus --quiet"),
    PRINTS("build-tree", "build fat-tree:k=4 --quiet"),
    PRINTS("build-dragonfly", "build dragonfly:dragonfly=2,4,2,gpus-per-server=1,radix=7 --quiet"),
    PRINTS("build-torus", "build torus:gpus=9,torus=3,3,gpus-per-server=1 --quiet"),
    PRINTS("build-export",
           "build " CLOS " --export a.svg --export b.graphml --export c.html --patch d.csv --fail leaf-0*0.5 --quiet"),
    PRINTS("build-out", "build " CLOS " --out out --quiet"),
    PRINTS("build-patch", "build " CLOS ",floor.rack-power=11kW --patch - --quiet"),
    AFTER("build-force", "build " CLOS ",taper=2 --export a.svg --out out --patch p --quiet",
          "build " CLOS " --export a.svg --out out --patch p --force --quiet"),
    PRINTS("build-verify", "build " CLOS " --verify --json --quiet"),
    PRINTS("build-view", "build " CLOS " --format gexf --view tier --quiet"),
    PRINTS("build-picture", "build " CLOS " --format svg --picture cost --quiet"),
    PRINTS("build-table", "build " CLOS " --format markdown --export t.csv --table cost.lines --quiet"),
    PRINTS("explore", "explore " CLOS " --job model=gpt-1.7b,memory-check=off --engine ecmp --quiet"),
    PRINTS("explore-empty", "explore --quiet"),
    FORMAT("explore", CLOS),
    FORMAT("graphml", CLOS),
    FORMAT("yed", CLOS),
    FORMAT("dot", CLOS),
    FORMAT("svg", CLOS),
    FORMAT("html", CLOS),
    FORMAT("ibnet", CLOS),
    FORMAT("cables", CLOS),
    FORMAT("ptm", CLOS),
    FORMAT("slurm-tree", CLOS),
    FORMAT("slurm-block", RAIL),
    FORMAT("slurm-yaml", RAIL),
    FORMAT("containerlab", CLOS),
    FORMAT("netbox-csv", CLOS),
    FORMAT("sonic", CLOS),
    FORMAT("frr", CLOS),
    FORMAT("topograph", CLOS),
    FORMAT("kueue", CLOS),
    FORMAT("htsim", "clos:gpus=8,gpus-per-server=1,nics-per-server=1,radix=4"),
    FORMAT("simai", CLOS),
    FORMAT("simgrid", CLOS),
    FORMAT("astra-sim", "clos:gpus=64,radix=16,domain=64"),
    /* cost */
    PRINTS("cost", "cost " CLOS " rail-only:gpus=16,domain=4,gpus-per-server=4 --json --quiet"),
    PRINTS("cost-steps", "cost rail-spine:gpus=16,gpus-per-server=4,radix=8 --steps 8,16 --json --quiet"),
    READS("cost-prices", "../../topologies/prices/today-400g.xml",
          "cost " CLOS " --prices today-400g.xml --out out --quiet"),
    /* traffic */
    PRINTS("traffic", "traffic " CLOS " --json"),
    PRINTS("traffic-table", "traffic " CLOS " --format csv --table phases --quiet"),
    PRINTS("traffic-all", "traffic " CLOS " --traffic pattern:all-reduce,algorithm=all,bytes=1MB --quiet"),
    PRINTS("traffic-ranking", "traffic " CLOS " --job kind=ranking --out out --quiet"),
    PRINTS("traffic-serving", "traffic " CLOS " --job kind=serving,model=llama3-8b,tp=2 --quiet"),
    READS("traffic-front-end", "front_end.xml",
          "traffic front_end.xml --traffic front-end --job model=gpt-7.5b --quiet"),
    PRINTS("traffic-export", "traffic " CLOS RING " --export m.csv"),
    PRINTS("traffic-market", "traffic " CLOS RING " --export m.mtx --quiet"),
    PRINTS("traffic-stdout", "traffic " CLOS RING " --export - --quiet"),
    AFTER("traffic-file-csv", "traffic " CLOS RING " --export m.csv", "traffic " CLOS " --traffic file:m.csv"),
    AFTER("traffic-file-matrix-market", "traffic " CLOS RING " --export m.mtx",
          "traffic " CLOS " --traffic file:m.mtx --quiet"),
    READS("traffic-file-servers", "faults/servers.csv",
          "traffic " CLOS " --traffic file:servers.csv,rows=servers --quiet"),
    READS("traffic-file-names", "faults/names.csv", "traffic " CLOS " --traffic file:names.csv --quiet"),
    READS("traffic-file-htsim-cm", "faults/two.cm", "traffic " CLOS " --traffic file:two.cm --quiet"),
    READS("traffic-file-nccl-log", "faults/nccl.log", "traffic " CLOS " --traffic file:nccl.log --quiet"),
    READS("traffic-file-flight-recorder", "faults/rank_1", "traffic " CLOS " --traffic file:rank_1 --quiet"),
    READS("traffic-file-simai-workload", "faults/layers.txt", "traffic " CLOS " --traffic file:layers.txt --quiet"),
    /* run */
    PRINTS("run", "run " CLOS " --job model=gpt-1.7b,memory-check=off --engine ecmp --engine spray --out out" COMMON),
    PRINTS("run-export",
           "run " CLOS " --job memory-check=off --seeds 2 --export r.html --export r.csv --table phases" COMMON),
    READS("run-interference", "two_jobs.xml", "run two_jobs.xml --interference --json" COMMON),
    PRINTS("run-timeline",
           "run " CLOS " --job model=gpt-1.7b,pp=2,memory-check=off --timeline t.trace --format timeline" COMMON),
    PRINTS("run-lossless", "run " CLOS " --job " TINY " --transport pfc,xoff=20kB" COMMON),
    PRINTS("run-dcqcn", "run " CLOS " --job " TINY " --transport dcqcn,kmin=1kB" COMMON),
    PRINTS("run-degrade", "run " CLOS " --degrade nic-3=0.5 --job memory-check=off" COMMON),
    PRINTS("run-fail", "run " SPARE " --fail server-1 --policy none,first-spare --job memory-check=off" COMMON),
    /* route */
    PRINTS("route-fail", "route " SPARE RING " --fail server-1 --engine pinned --json" COMMON),
    PRINTS("route-seeds", ROUTE " --engine ecmp,hash=ideal --engine adaptive --seeds 3 --json" COMMON),
    PRINTS("route-lossless", ROUTE " --engine ecmp --transport pfc --seeds 2 --json" COMMON),
    PRINTS("route-threads", ROUTE " --engine ecmp --engine spray --seeds 4 --threads 3 --json --quiet"),
    PRINTS("route-bound", ROUTE " --engine updn --engine optimal --bound --certificate c" COMMON),
    PRINTS("run-certificate", "run " CLOS " --job model=gpt-1.7b,pp=2,memory-check=off --certificate c" COMMON),
    PRINTS("route-lp", ROUTE " --engine optimal,method=lp --json" COMMON),
    PRINTS("route-flows", ROUTE " --format flows" COMMON),
    PRINTS("route-platform", ROUTE " --engine dmodk --format simgrid --export f.simgrid.xml --out out" COMMON),
    READS("route-front-end", "front_end.xml", "route front_end.xml --traffic front-end" COMMON),
    PRINTS("route-dump", ROUTE " --engine ecmp --dump t" COMMON),
    PRINTS("route-dump-stdout", ROUTE " --engine dmodk --dump - --dump-format lft" COMMON),
    AFTER("route-groups", ROUTE " --engine ecmp --dump t" COMMON, ROUTE " --engine ecmp,tables=t --json" COMMON),
    AFTER("route-tables", ROUTE " --engine dmodk --dump t" COMMON, ROUTE " --engine file,path=t --json" COMMON),
    AFTER("route-lft", ROUTE " --engine dmodk --dump t --dump-format lft" COMMON,
          ROUTE " --engine file,path=t --json" COMMON),
    READS("route-fdbs", "faults/fdbs", ROUTE " --engine file,path=fdbs --json" COMMON),
    READS("route-routes", "faults/routes.json", ROUTE " --engine ecmp,tables=routes.json --json" COMMON),
    PRINTS("route-explain", "route " CLOS " --traffic pattern:shift,by=3 --explain leaf-0:3" COMMON),
    PRINTS("route-advise", "route " CLOS " --traffic pattern:shift,by=3 --advise --advise-budget 8 --json" COMMON),
    PRINTS("route-degrade", ROUTE " --degrade nic-3=0.5 --engine ecmp,weights=capacity" COMMON),
    /* several designs */
    PRINTS("sweep", "sweep " CLOS " --vary taper.1=1,2" RING " --json" COMMON),
    PRINTS("sweep-two", "sweep " CLOS RING " --vary taper.1=1,2 --vary engine=ecmp,spray --out out" COMMON),
    PRINTS("sweep-lossless", "sweep " CLOS RING " --vary taper.1=1,2 --transport pfc" COMMON),
    PRINTS("sweep-csv", "sweep " CLOS " --vary taper.1=1,2" RING " --format csv" COMMON),
    PRINTS("compare", "compare clos:gpus=64,radix=16 clos:gpus=32,radix=16" RING " --json" COMMON),
    PRINTS("compare-text", "compare clos:gpus=16,radix=16 clos:gpus=32,radix=16 --job model=gpt-1.7b" COMMON),
    PRINTS("compare-goodput",
           "compare clos:gpus=16,radix=16 clos:gpus=32,radix=16 --job model=gpt-1.7b,tp=8 --scenarios time:10d@2 "
           "--policy none" COMMON),
    PRINTS("diff", "diff " CLOS RING " --engine pinned --after fail=leaf-0:3 --json" COMMON),
    PRINTS("diff-servers",
           "diff " CLOS SMALL " --before servers=server-0,server-1 --after servers=0,2 --tolerance 9" COMMON),
    PRINTS("diff-exchange", "diff " CLOS SMALL " --before servers=0,1 --after servers=1,0 --engine pinned" COMMON),
    AFTER("diff-reports", ROUTE " --engine ecmp --export r.json" COMMON, "diff r.json r.json" COMMON),
    PRINTS("diff-text", "diff clos:gpus=16,radix=16 clos:gpus=16,radix=16,taper=2" RING COMMON),
    PRINTS("place", "place clos:gpus=16,gpus-per-server=2,radix=8,pod=8,tiers=3" RING " --json" COMMON),
    PRINTS("place-out", "place clos:gpus=16,gpus-per-server=2,radix=8,pod=8,tiers=3" RING " --out out" COMMON),
    PRINTS("mix", "mix " CLOS " " CLOS ",taper=2 --share 0.8 --engine spray --json" COMMON),
    PRINTS("mix-serving",
           "mix " CLOS " --serving model=gpt-1.7b,tp=2,batch=8,prompt=16,tokens=4 --engine spray" COMMON),
    PRINTS("mix-out", "mix " CLOS " " CLOS ",taper=2 --ranking batch=4096 --engine spray --out out" COMMON),
    PRINTS("plan", "plan clos:gpus=4,gpus-per-server=2,radix=4 --job layers=2,hidden=512,heads=2,seq=512,vocab=1000,"
                   "batch=8,tp=2,recompute=full,microbatch=1 --engine spray" COMMON),
    PRINTS("busbw", "busbw " CLOS " --engine ecmp --bytes 1GiB --json" COMMON),
    PRINTS("busbw-out", "busbw " CLOS " --algorithm best --collective all-gather --ranks 8 --out out" COMMON),
    READS("busbw-measured", "../../tests/data/busbw/h200.log",
          "busbw clos:gpus=8 --job gpu=h200-141gb --measured h200.log --tolerance 0.9" COMMON),
    PRINTS("optimize", "optimize --gpus 16 --family clos --min-bisection 0.5 --json --quiet"),
    READS("optimize-catalog", "../../topologies/catalogs/today.xml",
          "optimize --gpus 16 --min-bisection 0.5 --catalog today.xml --out out --quiet"),
    PRINTS("optimize-limits", "optimize --gpus 16 --max-taper 2 --max-power 1MW --budget 10e6 --gpus-per-server 4 "
                              "--domain 4 --nic 400Gb/s --family rail-spine --time-limit 100s --quiet"),
    PRINTS("optimize-tokens", "optimize --gpus 8 --family clos --objective tokens --replays 1 --job " TINY
                              ",recompute=full,microbatch=1 --engine spray --seed 2 --threads 1 --quiet"),
    /* studies */
    STUDY("study-plan", NULL, NULL, PLAN),
    STUDY("study-plan-times", NULL, NULL,
          "study plan " SPARE SMALL
          " --scenarios servers:1 --policy none,first-spare --store st --seeds 2 --seed 3 --quiet"),
    {"study-plan-list",
     {NULL},
     "study plan " SPARE RING " --scenarios file:losses.csv --figures loads --store st --quiet",
     "faults/losses.csv",
     true},
    STUDY("study-plan-files", "traffic " CLOS RING " --export m.csv --quiet",
          "route " SPARE RING " --engine ecmp --dump t" COMMON,
          "study plan " SPARE " --traffic file:m.csv --engine ecmp,tables=t --scenarios links:1 --store st --quiet"),
    STUDY("study-plan-again", PLAN, NULL, PLAN),
    STUDY("study-run-lossless", "study plan " SPARE RING " --transport pfc --scenarios links:1 --store st --quiet",
          NULL, RUN),
    STUDY("study-run", PLAN, NULL, RUN),
    STUDY("study-run-threads", PLAN, NULL, "study run --store st --threads 3 --quiet"),
    STUDY("study-run-shard", PLAN, NULL, HALF),
    STUDY("study-run-rest", PLAN, HALF, RUN),
    STUDY("study-run-months",
          "study plan " SPARE SMALL " --scenarios time:30d@6 --policy first-spare --store st --quiet", NULL, RUN),
    STUDY("study-gather", PLAN, RUN, GATHER),
    STUDY("study-gather-partial", PLAN, HALF, "study gather --store st --partial --quiet"),
    RESULTS("study-gather-again", PLAN, GATHER),
    RESULTS("study-show", PLAN, "study show --store st --json"),
    RESULTS("study-show-csv", PLAN, "study show --store st --format csv"),
    RESULTS("study-show-out", PLAN,
            "study show --store st --top 3 --variant 1 --out out --export s.svg --view leaf --force"),
    RESULTS("study-show-certificate",
            "study plan " SPARE SMALL " --scenarios servers:1 --policy first-spare --store st --quiet",
            "study show --store st --certificate c --force --quiet"),
    RESULTS("study-show-months",
            "study plan " SPARE SMALL " --scenarios time:30d@6 --policy first-spare --store st --quiet",
            "study show --store st --quiet"),
    STUDY("study-plan-classes", NULL, NULL, ALIKE),
    RESULTS("study-show-classes", ALIKE, "study show --store st --json"),
    RESULTS("study-show-update", "study plan " CLOS RING " --scenarios update:spine --store st --quiet",
            "study show --store st --quiet"),
    PRINTS("route-fail-requests", "route " CLOS " --traffic pattern:all-to-all --engine ecmp --engine spray --fail "
                                  "spine-0 --policy none --quiet"),
    /* what is installed */
    AFTER("audit", "build " CLOS " --format ibnet --quiet",
          "audit before.out --node-name-map /dev/null --json --quiet"),
    AFTER("audit-plan", "build " CLOS " --patch a.csv --quiet", "audit a.csv --against a.csv --quiet"),
    AFTER("audit-design", "build " CLOS " --format cables --quiet",
          "audit before.out --against " CLOS " --input-format cables --format csv --quiet"),
    AFTER("audit-page", "build " CLOS " --format cables --quiet", "audit before.out --format html --quiet"),
    AFTER("audit-picture", "build " CLOS " --format cables --quiet",
          "audit before.out --against " CLOS ",floor.servers-per-rack=2 --picture audit --export a.svg --quiet"),
    AFTER("audit-out", "build " CLOS " --format cables --quiet", "audit before.out --out out --quiet"),
    READS("import-out", "sites/cables", "import cables --set gpus-per-server=2 --out out --json --quiet"),
    COUNTERS("perfquery"),
    COUNTERS("ibdiagnet"),
    COUNTERS("prometheus"),
    COUNTERS("json"),
    COUNTERS("csv"),
    COUNTERS("sysfs"),
    READS("observe-csv-twice", "counters/csv",
          "observe " CLOS RING
          " --interval 10s --counters csv --set fabric.taper=1 --seed 3 --seeds 4 --job gpus=8 --prices "
          "today-400g --json" COMMON),
    READS("observe-ranks", "faults/even.csv faults/rank_1",
          "observe " CLOS " --traffic file:rank_1 --engine spray --counters even.csv" COMMON),
    NETWORK("ibnetdiscover"),
    NETWORK("ibnetdiscover-ports"),
    NETWORK("opensm-subnet"),
    NETWORK("slurm"),
    NETWORK("ptm"),
    NETWORK("graphml"),
    NETWORK("cables"),
    READS("audit-gzip", "faults/cables.gz", "audit cables.gz --quiet"),
    READS("audit-xz", "faults/cables.xz", "import cables.xz --quiet"),
    NETWORK("htsim"),
    NETWORK("simai"),
    NETWORK("iblinkinfo"),
    NETWORK("ibdiagnet"),
    NETWORK("ufm"),
    NETWORK("gexf"),
    NETWORK("minigraph"),
    NETWORK("snmp"),
    NETWORK("lldp"),
    NETWORK("lldpctl"),
    NETWORK("sonic"),
    NETWORK("netbox"),
    NETWORK("layer1"),
    NETWORK("node-link"),
    NETWORK("containerlab"),
    NETWORK("topograph"),
    NETWORK("slurm-yaml"),
    {.name = NULL},
};
