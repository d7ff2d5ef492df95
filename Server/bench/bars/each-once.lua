-- Asks for each path of a list once, and stops. Arguments: the list, and a name of the results.
local requests, given, answered, ready = {}, 0, 0, {}
statuses = ""
local counts = {}
local threads = {}

function setup(thread)
    table.insert(threads, thread)
end

function init(args)
    for path in io.lines(args[1]) do
        requests[#requests + 1] = wrk.format("GET", path, { ["Connection"] = "close" })
    end
end

-- A connection gets its path here; those for which none is left wait for the end.
function delay()
    if given >= #requests then return 1000000 end
    given = given + 1
    ready[#ready + 1] = given
    return 0
end

function request()
    return requests[table.remove(ready, 1) or 1]
end

function response(status, headers, body)
    answered = answered + 1
    counts[status] = (counts[status] or 0) + 1
    if answered == #requests then
        local parts = {}
        for code, count in pairs(counts) do parts[#parts + 1] = string.format('"%d": %d', code, count) end
        statuses = table.concat(parts, ", ")
        wrk.thread:stop()
    end
end

function done(summary, latency, requests)
    local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
    io.write(string.format(
        '\nRESULT {"requests": %d, "seconds": %f, "bytes": %d, "median": %f, "p99": %f, "errors": %d, "statuses": {%s}}\n',
        summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50) / 1e6, latency:percentile(99) / 1e6,
        errors, threads[1]:get("statuses")))
end
