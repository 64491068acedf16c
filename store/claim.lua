-- Take a shard over: a later epoch and a fresh owner. Sent twice, it claims once.
-- KEYS[1]  hash    meta
-- ARGV[1]  string  owner, a fresh random nonce
-- ARGV[2]  integer  the wall clock in ms: the least epoch, so that it grows even where the shard was lost
-- Returns the epoch, an integer.
local kept = redis.call('HMGET', KEYS[1], 'owner', 'epoch')
if kept[1] == ARGV[1] then
  return tonumber(kept[2])
end
local epoch = math.max((tonumber(kept[2]) or 0) + 1, tonumber(ARGV[2]))
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'epoch', string.format('%.0f', epoch))
return epoch
