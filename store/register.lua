-- Put one entry of the registry in place of the one that was read. Entries are opaque here and each is unique,
-- so finding the new one in place means that this was sent before.
-- KEYS[1]  hash    registry: name -> entry
-- KEYS[2]  string  registry version
-- ARGV[1]  string  name
-- ARGV[2]  string  the entry as it was read, empty if there was none
-- ARGV[3]  string  the entry to put there
-- ARGV[4]  string  fresh version
-- Returns OK or MOVED.
local kept = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if kept == ARGV[3] then
  return 'OK'
end
if kept ~= ARGV[2] then
  return 'MOVED'
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('SET', KEYS[2], ARGV[4])
return 'OK'
