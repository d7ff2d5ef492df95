/// The scripts by which several steps on one key are one for all processes.
///
/// None of them fails on a value of another type, which would be an error without a code before Redis 7: `pcall` returns a table
/// in its place.
enum Scripts {
    /// Removes a value that is still the one that was seen, or is no string.
    ///
    /// Keys: the entry. Arguments: the value's first bytes.
    static let discard = """
        local seen = redis.pcall('GETRANGE', KEYS[1], 0, #ARGV[1] - 1)
        if type(seen) == 'table' or (#ARGV[1] > 0 and seen == ARGV[1]) then return redis.call('UNLINK', KEYS[1]) end
        return 0
        """

    /// Replaces the front of a value if it is still the one that was read.
    ///
    /// Keys: the entry. Arguments: the front that was read, the new one, and the milliseconds to keep it; nothing is as before.
    static let update = """
        local seen = redis.pcall('GETRANGE', KEYS[1], 0, #ARGV[1] - 1)
        if seen ~= ARGV[1] then return 0 end
        local value = ARGV[2] .. redis.call('GETRANGE', KEYS[1], #ARGV[1], -1)
        local done
        if ARGV[3] == '' then
            done = redis.pcall('SET', KEYS[1], value, 'KEEPTTL')
        else
            done = redis.pcall('SET', KEYS[1], value, 'PX', ARGV[3])
        end
        return done.err and done or 1
        """

    /// Raises the generation of the keys to a number at least, and by a step.
    ///
    /// Keys: the generation. Arguments: the number, the step.
    static let raise = """
        local now = redis.pcall('GET', KEYS[1])
        now = type(now) == 'string' and string.match(now, '^%d+$') and tonumber(now) or 0
        if now > 4503599627370496 then now = 0 end
        now = math.max(now, tonumber(ARGV[1])) + tonumber(ARGV[2])
        local text = string.format('%.0f', now)
        local done = redis.pcall('SET', KEYS[1], text)
        return done.err and done or text
        """

    /// Claims an entry: returns "stored" if there is one, "granted", "refused" if nothing can be written, and else the
    /// milliseconds for which another process has claimed it.
    ///
    /// Keys: the lease, the entry. Arguments: the token, the milliseconds.
    static let claim = """
        if redis.call('EXISTS', KEYS[2]) == 1 then return 'stored' end
        local done = redis.pcall('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
        if done and done.err then return 'refused' end
        if done then return 'granted' end
        return redis.call('PTTL', KEYS[1])
        """

    /// Keeps a claim for longer; returns 0 if it has ended.
    ///
    /// Keys: the lease. Arguments: the token, the milliseconds.
    static let renew = """
        if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        return redis.call('PEXPIRE', KEYS[1], ARGV[2])
        """

    /// Ends a claim and wakes those who wait.
    ///
    /// Keys: the lease, the entry. Arguments: the token, the channel.
    static let release = """
        if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        redis.call('DEL', KEYS[1])
        redis.call('PUBLISH', ARGV[2], redis.call('EXISTS', KEYS[2]) == 1 and 'stored' or 'released')
        return 1
        """
}
