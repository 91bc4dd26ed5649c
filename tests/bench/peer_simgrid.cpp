// Flows over an XGFT in SimGrid: load the platform, start them all at once.
// Usage: peer_simgrid XGFT BYTES [--finish] <pairs      XGFT as in fat-tree:xgft=..., a pair is "source destination";
//                                                       computes the rates once, or runs to the end
//        peer_simgrid XGFT --times <flows               a flow is "source destination bytes"; runs to the end
// Pure max-min: model CM02 without cross traffic and latency. The routing of SimGrid's fat-tree is D-mod-K.
// Output: seconds of processor time by step, then "links up|down TIER FLOWS NUMBER": how many links carry that many
// flows; with --times instead "time N SECONDS": when flow N is done.
#include <simgrid/s4u.hpp>
#include <xbt/log.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace sg = simgrid::s4u;

static const double CAPACITY = 50e9; // bytes per second: 400 Gb/s

static double processor_s() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// "3;4,4,8;1,4,4;1,1,1" to its four lists of numbers.
static std::vector<std::vector<unsigned>> parse_xgft(const std::string &text) {
    std::vector<std::vector<unsigned>> lists;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ';');) {
        lists.emplace_back();
        std::istringstream numbers(part);
        for (std::string number; std::getline(numbers, number, ',');) {
            lists.back().push_back(static_cast<unsigned>(std::stoul(number)));
        }
    }
    return lists;
}

static std::vector<sg::Host *> load_platform(const std::vector<std::vector<unsigned>> &xgft) {
    std::vector<sg::Host *> hosts;
    auto make_host = [&hosts](sg::NetZone *zone, const std::vector<unsigned long> &, unsigned long id) {
        hosts.push_back(zone->create_host("host-" + std::to_string(id), 1e9));
        return std::make_pair(hosts.back()->get_netpoint(), static_cast<simgrid::kernel::routing::NetPoint *>(nullptr));
    };
    sg::FatTreeParams shape(xgft[0][0], xgft[1], xgft[2], xgft[3]);
    sg::create_fatTree_zone("fabric", nullptr, shape, sg::ClusterCallbacks(make_host), CAPACITY, 0.0,
                            sg::Link::SharingPolicy::SPLITDUPLEX)
        ->seal();
    return hosts;
}

// Every route of 2 h links climbs h of them.
static void print_links(const std::vector<sg::Host *> &hosts, const std::vector<std::pair<size_t, size_t>> &pairs) {
    std::unordered_map<sg::Link *, unsigned> flows;
    std::unordered_map<sg::Link *, std::pair<std::string, size_t>> place;
    for (const auto &pair : pairs) {
        std::vector<sg::Link *> links;
        double latency = 0;
        hosts[pair.first]->route_to(hosts[pair.second], links, &latency);
        for (size_t i = 0; i < links.size(); i++) {
            flows[links[i]]++;
            bool up = i < links.size() / 2;
            place[links[i]] = {up ? "up" : "down", up ? i + 1 : links.size() - i};
        }
    }
    std::map<std::tuple<std::string, size_t, unsigned>, unsigned> number;
    for (const auto &link : flows) {
        number[std::make_tuple(place[link.first].first, place[link.first].second, link.second)]++;
    }
    for (const auto &n : number) {
        std::printf("links %s %zu %u %u\n", std::get<0>(n.first).c_str(), std::get<1>(n.first), std::get<2>(n.first),
                    n.second);
    }
}

// Runs flows of their own sizes to the end.
static int run_times(sg::Engine &engine, const std::vector<sg::Host *> &hosts, double start, double loaded) {
    struct Flow {
        size_t from, to;
        uint64_t bytes;
    };
    std::vector<Flow> flows;
    for (Flow flow{}; std::cin >> flow.from >> flow.to >> flow.bytes;) {
        flows.push_back(flow);
    }
    std::vector<sg::CommPtr> comms;
    double begin = processor_s();
    double started = begin;
    sg::Actor::create("flows", hosts[0], [&]() {
        comms.reserve(flows.size());
        for (const auto &flow : flows) {
            comms.push_back(sg::Comm::sendto_async(hosts[flow.from], hosts[flow.to], flow.bytes));
        }
        started = processor_s();
        sg::Comm::wait_all(comms);
    });
    engine.run();
    std::printf("load_s %.6f\nflows_s %.6f\nrun_s %.6f\n", loaded - start, started - begin, processor_s() - started);
    for (size_t i = 0; i < comms.size(); i++) {
        std::printf("time %zu %.17g\n", i, comms[i]->get_finish_time());
    }
    return 0;
}

int main(int argc, char **argv) {
    double start = processor_s();
    xbt_log_control_set("root.thres:warning");
    sg::Engine engine(&argc, argv);
    for (const char *option :
         {"network/model:CM02", "network/crosstraffic:0", "maxmin/precision:1e-9", "surf/precision:1e-15"}) {
        sg::Engine::set_config(option);
    }
    if (argc < 3) {
        std::fputs("usage: peer_simgrid XGFT BYTES [--finish] <pairs, or XGFT --times <flows\n", stderr);
        return 2;
    }
    std::vector<sg::Host *> hosts = load_platform(parse_xgft(argv[1]));
    double loaded = processor_s();
    if (std::string(argv[2]) == "--times") {
        return run_times(engine, hosts, start, loaded);
    }
    auto bytes = static_cast<uint64_t>(std::stoull(argv[2]));
    bool finish = argc > 3;

    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t from, to; std::cin >> from >> to;) {
        pairs.emplace_back(from, to);
    }
    double begin = processor_s();
    double started = begin;
    double solved = begin;
    sg::Actor::create("flows", hosts[0], [&]() {
        std::vector<sg::CommPtr> comms;
        comms.reserve(pairs.size());
        for (const auto &pair : pairs) {
            comms.push_back(sg::Comm::sendto_async(hosts[pair.first], hosts[pair.second], bytes));
        }
        started = processor_s();
        sg::this_actor::sleep_for(1e-12 * static_cast<double>(bytes)); // the shortest flow lasts 2e-11 s per byte
        solved = processor_s();
        if (finish) {
            sg::Comm::wait_all(comms);
            return;
        }
        std::printf("load_s %.6f\nflows_s %.6f\nsolve_s %.6f\n", loaded - start, started - begin, solved - started);
        print_links(hosts, pairs);
        std::fflush(stdout);
        std::_Exit(0); // the rest of the simulation is not wanted
    });
    engine.run();
    std::printf("slowest_ratio %.9f\n", engine.get_clock() * CAPACITY / static_cast<double>(bytes));
    print_links(hosts, pairs);
    return 0;
}
