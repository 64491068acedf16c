-- Serve a set, if it was made from the one that is served and by no earlier owner than that one.
-- KEYS[1]  hash        top: epoch, owner, version, nonce, body
-- KEYS[2]  string      version:nonce
-- KEYS[3]  sorted set  changes, scored by version
-- ARGV[1]  integer     epoch of the claim
-- ARGV[2]  string      its owner
-- ARGV[3]  string      version:nonce of the set that this one follows, empty for the first
-- ARGV[4]  integer     version
-- ARGV[5]  string      nonce, fresh for each set
-- ARGV[6]  string      body
-- ARGV[7]  string      what entered and left, empty if nothing did
-- ARGV[8]  integer     how many changes to keep
-- Returns OK, FENCED or MOVED.
local kept = redis.call('HMGET', KEYS[1], 'epoch', 'owner', 'nonce')
if kept[3] == ARGV[5] then
  return 'OK'
end
local latest = tonumber(kept[1]) or 0
local epoch = tonumber(ARGV[1])
if epoch < latest or (epoch == latest and kept[2] ~= ARGV[2]) then
  return 'FENCED'
end
if (redis.call('GET', KEYS[2]) or '') ~= ARGV[3] then
  return 'MOVED'
end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'owner', ARGV[2], 'version', ARGV[4], 'nonce', ARGV[5], 'body', ARGV[6])
redis.call('SET', KEYS[2], ARGV[4] .. ':' .. ARGV[5])
if ARGV[7] ~= '' then
  redis.call('ZADD', KEYS[3], ARGV[4], ARGV[7])
  redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - tonumber(ARGV[8]))
end
return 'OK'
