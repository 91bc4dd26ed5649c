#include "ends.h"

#include "fab/design.h"

fab_status fab_ends_count(const fab_fabric_spec *spec, fab_ends *out, fab_error *err) {
    fab_ends ends = {.planes = spec->planes};
    uint64_t g = spec->gpus_per_server;
    uint64_t n = spec->nics_per_server;
    FAB_REFUSE_IF(g == 0 || n == 0 || (n % g != 0 && g % n != 0), err, FAB_EINPUT, NULL,
                  "%" PRIu64 " NICs do not divide evenly over %" PRIu64 " GPUs of a server; gpus-per-server=%" PRIu64
                  " or %" PRIu64 " would do",
                  n, g, n, 2 * n);
    FAB_REFUSE_IF(spec->gpus == 0 || spec->gpus % g != 0, err, FAB_EINPUT, NULL,
                  "%" PRIu64 " GPUs do not fill servers of %" PRIu64, spec->gpus, g);
    ends.servers = spec->gpus / g + spec->spares;
    ends.gpus = ends.servers * g;
    ends.nics = ends.servers * n;
    ends.domains = spec->domain > 1 ? fab_ceil_div(ends.gpus, spec->domain) : 0;
    uint64_t unit =
        spec->domain > g ? spec->domain : g; /* rails are counted inside a domain, or a server where it is larger */
    FAB_REFUSE_IF(unit % g != 0, err, FAB_EINPUT, NULL,
                  "a scale-up domain of %" PRIu64 " GPUs is not a whole number of servers of %" PRIu64, unit, g);
    ends.units = fab_ceil_div(ends.gpus, unit);
    ends.active_units = fab_ceil_div(spec->gpus, unit);
    ends.rails = unit / g * n;
    if (ends.units == 1) { /* a single, partly filled unit has no more rails than NICs */
        ends.rails = ends.nics;
    }
    *out = ends;
    return FAB_OK;
}

fab_counts fab_ends_counts(const fab_ends *ends) {
    return (fab_counts){.gpus = ends->gpus,
                        .servers = ends->servers,
                        .nics = ends->nics,
                        .domains = ends->domains,
                        .rails = ends->rails,
                        .planes = ends->planes};
}

uint64_t fab_ends_behind(const fab_fabric_spec *spec, uint64_t nic_ports) {
    uint64_t gpus = nic_ports * spec->gpus_per_server / spec->nics_per_server;
    uint64_t spares = spec->spares * spec->gpus_per_server;
    return gpus > spares ? gpus - spares : gpus;
}

fab_status fab_ends_check(const fab_fabric_spec *spec, const fab_ends *ends, fab_error *err) {
    FAB_REFUSE_IF(ends->gpus > FAB_MAX_GPUS || ends->nics > FAB_MAX_GPUS, err, FAB_EINPUT, NULL,
                  "%" PRIu64 " GPUs and %" PRIu64 " NICs; the limit of either is %u", ends->gpus, ends->nics,
                  FAB_MAX_GPUS);
    FAB_REFUSE_IF(spec->domain > UINT16_MAX || ends->rails >= UINT16_MAX, err, FAB_EINPUT, NULL,
                  "domain %" PRIu64 ", %" PRIu64 " rails: both must stay below %u", spec->domain, ends->rails,
                  UINT16_MAX);
    uint64_t nic_ports = spec->gpus_per_server / spec->nics_per_server + 1 + spec->planes;
    uint64_t gpu_ports = spec->nics_per_server / spec->gpus_per_server + 2;
    FAB_REFUSE_IF(nic_ports > UINT16_MAX || gpu_ports > UINT16_MAX, err, FAB_EINPUT, NULL,
                  "a NIC with %" PRIu64 " ports or a GPU with %" PRIu64 "; the limit of either is %u", nic_ports,
                  gpu_ports, UINT16_MAX);
    return FAB_OK;
}

uint64_t fab_ends_cables(const fab_ends *ends) {
    return (ends->domains > 0 ? ends->gpus : 0) + (ends->gpus > ends->nics ? ends->gpus : ends->nics);
}

/* GPUs that share a NIC. */
static uint32_t sharing_of(const fab_fabric *f) {
    return f->gpus_per_server > f->nics_per_server ? f->gpus_per_server / f->nics_per_server : 1;
}

uint32_t fab_ends_nic_port(const fab_fabric *fabric, uint32_t plane) {
    return sharing_of(fabric) + 1 + plane;
}

fab_link_class fab_cable_class(const fab_fabric_spec *spec, uint32_t boundary, bool is_tree, double capacity_bps,
                               double length_m) {
    double upper_s = spec->tier[is_tree ? boundary - 1 : 0].latency_s;
    double lower_s = boundary > 1 ? spec->tier[is_tree ? boundary - 2 : 0].latency_s : 0; /* a NIC: none */
    double device_s = (lower_s + upper_s) / 2;
    return (fab_link_class){.kind = boundary == 1 ? FAB_LINK_ACCESS : FAB_LINK_FABRIC,
                            .tier = boundary,
                            .capacity_bps = capacity_bps,
                            .usable_bps = capacity_bps * (boundary == 1 ? fab_design_host(spec).nic_part : 1),
                            .length_m = length_m,
                            .latency_s = device_s + length_m * FAB_FIBRE_S_PER_M};
}

fab_status fab_ends_build(const fab_fabric_spec *spec, const fab_ends *ends, fab_builder *builder, fab_error *err) {
    fab_fabric *f = fab_builder_fabric(builder);
    uint32_t n_gpus = (uint32_t)ends->gpus;
    uint16_t scaleup = 0;
    uint16_t pcie = 0;
    fab_link_class scaleup_class = {
        .kind = FAB_LINK_SCALEUP, .capacity_bps = spec->domain_bps, .latency_s = spec->domain_latency_s / 2};
    fab_link_class pcie_class = {.kind = FAB_LINK_PCIE,
                                 .capacity_bps = spec->pcie_bps > 0 ? spec->pcie_bps : spec->nic_bps};
    f->gpus_per_server = (uint32_t)spec->gpus_per_server;
    f->nics_per_server = (uint32_t)spec->nics_per_server;
    f->gpus_per_domain = (uint32_t)spec->domain;
    f->n_servers = (uint32_t)ends->servers;
    f->n_rails = (uint32_t)ends->rails;
    f->n_planes = (uint32_t)ends->planes;
    FAB_PASS(fab_builder_class(builder, &pcie_class, &pcie, err));
    if (ends->domains > 0) {
        FAB_PASS(fab_builder_class(builder, &scaleup_class, &scaleup, err));
        for (uint32_t gpu = 0; gpu < n_gpus; gpu++) {
            uint32_t domain = gpu / f->gpus_per_domain;
            fab_builder_cable(builder, scaleup, gpu, 1, f->first[FAB_NODE_DOMAIN] + domain,
                              gpu % f->gpus_per_domain + 1);
        }
    }
    uint32_t sharing = sharing_of(f);
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++) {
        uint32_t first = 0;
        uint32_t n = fab_nics_of_gpu(f, gpu, &first);
        for (uint32_t i = 0; i < n; i++) {
            fab_builder_cable(builder, pcie, gpu, 2 + i, f->first[FAB_NODE_NIC] + first + i, gpu % sharing + 1);
        }
    }
    return FAB_OK;
}
