-- Asks for each path of a list once, and ends the program with the last answer. Argument: the list.
local ffi = require("ffi")
ffi.cdef "typedef struct { long seconds, microseconds; } moment; int gettimeofday(moment *, void *);"

local requests, given, answered, ready, began = {}, 0, 0, {}, nil
local counts = {}

local function now()
    local moment = ffi.new("moment")
    ffi.C.gettimeofday(moment, nil)
    return tonumber(moment.seconds) + tonumber(moment.microseconds) / 1e6
end

function init(args)
    for path in io.lines(args[1]) do
        requests[#requests + 1] = wrk.format("GET", path, { ["Connection"] = "close" })
    end
end

-- A connection gets its path here; those for which none is left wait for the end.
function delay()
    began = began or now()
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
    if answered < #requests then return end
    local parts = {}
    for code, count in pairs(counts) do parts[#parts + 1] = string.format('"%d": %d', code, count) end
    io.write(string.format(
        '\nRESULT {"requests": %d, "seconds": %f, "statuses": {%s}}\n', answered, now() - began, table.concat(parts, ", ")))
    io.flush()
    os.exit(0)
end
