// Rates of flows on a platform of SimGrid as they start together, or when they end.
// Usage: peer_simgrid_platform PLATFORM.xml [times] <flows    a flow is "source destination bytes", names of hosts
// The model is that of the platform's <config>; rates are shared max-min where it has no latencies.
// Output: "rate N BITS_PER_SECOND", or "time N SECONDS".
#include <simgrid/s4u.hpp>
#include <xbt/log.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

int main(int argc, char **argv) {
    xbt_log_control_set("root.thres:warning");
    sg::Engine engine(&argc, argv);
    if (argc != 2 && (argc != 3 || std::string(argv[2]) != "times")) {
        std::fputs("usage: peer_simgrid_platform PLATFORM.xml [times] <flows\n", stderr);
        return 2;
    }
    const bool times = argc == 3;
    engine.load_platform(argv[1]);
    const double endless = 1e15, time_s = 1;
    std::vector<sg::Host *> from, to;
    std::vector<double> bytes;
    double n = 0;
    for (std::string a, b; std::cin >> a >> b >> n;) {
        from.push_back(sg::Host::by_name(a));
        to.push_back(sg::Host::by_name(b));
        bytes.push_back(times ? n : endless);
    }
    auto start = [&](size_t i) { return sg::Comm::sendto_async(from[i], to[i], static_cast<uint64_t>(bytes[i])); };
    if (times) {
        for (size_t i = 0; i < from.size(); i++) {
            sg::Actor::create("flow", from[i], [&, i]() {
                start(i)->wait();
                std::printf("time %zu %.12g\n", i, sg::Engine::get_clock());
            });
        }
        engine.run();
        return 0;
    }
    sg::Actor::create("flows", from.at(0), [&]() {
        std::vector<sg::CommPtr> comms;
        for (size_t i = 0; i < from.size(); i++) {
            comms.push_back(start(i));
        }
        sg::this_actor::sleep_for(time_s);
        for (size_t i = 0; i < comms.size(); i++) {
            std::printf("rate %zu %.12g\n", i, 8 * (bytes[i] - comms[i]->get_remaining()) / time_s);
        }
        std::fflush(stdout);
        std::_Exit(0); // the rest of the simulation is not wanted
    });
    engine.run();
    return 1;
}
