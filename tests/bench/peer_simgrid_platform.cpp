// Rates of flows on a platform of SimGrid as they start together.
// Usage: peer_simgrid_platform PLATFORM.xml <flows    a flow is "source destination", names of hosts
// Pure max-min: model CM02 without cross traffic; the platform must have no latencies. Output: "rate N BITS_PER_SECOND".
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
    for (const char *option :
         {"network/model:CM02", "network/crosstraffic:0", "maxmin/precision:1e-9", "surf/precision:1e-15"}) {
        sg::Engine::set_config(option);
    }
    if (argc != 2) {
        std::fputs("usage: peer_simgrid_platform PLATFORM.xml <flows\n", stderr);
        return 2;
    }
    engine.load_platform(argv[1]);
    const double bytes = 1e15, time_s = 1;
    std::vector<sg::Host *> from, to;
    for (std::string a, b; std::cin >> a >> b;) {
        from.push_back(sg::Host::by_name(a));
        to.push_back(sg::Host::by_name(b));
    }
    sg::Actor::create("flows", from.at(0), [&]() {
        std::vector<sg::CommPtr> comms;
        for (size_t i = 0; i < from.size(); i++) {
            comms.push_back(sg::Comm::sendto_async(from[i], to[i], static_cast<uint64_t>(bytes)));
        }
        sg::this_actor::sleep_for(time_s);
        for (size_t i = 0; i < comms.size(); i++) {
            std::printf("rate %zu %.12g\n", i, 8 * (bytes - comms[i]->get_remaining()) / time_s);
        }
        std::fflush(stdout);
        std::_Exit(0); // the rest of the simulation is not wanted
    });
    engine.run();
    return 1;
}
