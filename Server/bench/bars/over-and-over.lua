-- Asks for the paths of a list in turn for as long as the run lasts. Argument: the list.
local requests, given = {}, 0

function init(args)
    for path in io.lines(args[1]) do requests[#requests + 1] = wrk.format("GET", path) end
end

function request()
    given = given % #requests + 1
    return requests[given]
end

function done(summary, latency, requests)
    local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
    io.write(string.format(
        '\nRESULT {"requests": %d, "seconds": %f, "bytes": %d, "median": %f, "p99": %f, "errors": %d, "refused": %d}\n',
        summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50) / 1e6, latency:percentile(99) / 1e6,
        errors, summary.errors.status))
end
