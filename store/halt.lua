-- Mark a shard as standing still, or as running again.
-- KEYS[1]  hash     meta
-- ARGV[1]  string   owner
-- ARGV[2]  integer  epoch
-- ARGV[3]  string   why it stands still, empty: it runs
-- Returns OK or FENCED.
local kept = redis.call('HMGET', KEYS[1], 'owner', 'epoch')
if kept[1] ~= ARGV[1] or kept[2] ~= ARGV[2] then
  return 'FENCED'
end
redis.call('HSET', KEYS[1], 'halted', ARGV[3])
return 'OK'
