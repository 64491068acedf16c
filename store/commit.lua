-- State and offset move together or not at all. Compare first, write last; absolute values, so it may be sent twice.
-- KEYS[1]  hash        meta
-- KEYS[2]  hash        state: chunk id -> bytes
-- KEYS[3]  hash        names: the same, for ids that begin with n:
-- KEYS[4]  sorted set  changed: chunk id, scored by commit number
-- KEYS[5]  sorted set  versions: version, scored by commit number
-- ARGV[1]  string      owner
-- ARGV[2]  integer     epoch
-- ARGV[3]  string      version that it builds on, empty on a first commit
-- ARGV[4]  string      next offset that it builds on, empty on a first commit
-- ARGV[5]  string      its own version
-- ARGV[6]  integer     how many versions to keep
-- ARGV[7]  integer     how many meta fields follow, as field, value
-- ARGV[...]            the fields, then to the end chunk id, bytes
-- Returns OK, FENCED or ROLLED.
local kept = redis.call('HMGET', KEYS[1], 'owner', 'epoch', 'ver', 'next_offset', 'number')
if kept[1] ~= ARGV[1] or kept[2] ~= ARGV[2] then
  return 'FENCED'
end
if kept[3] == ARGV[5] then
  return 'OK'
end
if (kept[3] or '') ~= ARGV[3] or (kept[4] or '') ~= ARGV[4] then
  return 'ROLLED'
end

local number = (tonumber(kept[5]) or 0) + 1
local first_chunk = 8 + 2 * tonumber(ARGV[7])
redis.call('HSET', KEYS[1], 'ver', ARGV[5], 'number', number)
for i = 8, first_chunk - 2, 2 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
end
for i = first_chunk, #ARGV - 1, 2 do
  local home = string.sub(ARGV[i], 1, 2) == 'n:' and KEYS[3] or KEYS[2]
  redis.call('HSET', home, ARGV[i], ARGV[i + 1])
  redis.call('ZADD', KEYS[4], number, ARGV[i])
end
redis.call('HSET', KEYS[1], 'chunks', redis.call('HLEN', KEYS[2]) + redis.call('HLEN', KEYS[3]))
redis.call('ZADD', KEYS[5], number, ARGV[5])
redis.call('ZREMRANGEBYRANK', KEYS[5], 0, -1 - tonumber(ARGV[6]))
return 'OK'
