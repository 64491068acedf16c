-- What a shard changed since a reader last read it, one consistent reading. Writes nothing.
-- KEYS[1]  hash        meta
-- KEYS[2]  hash        state: chunk id -> bytes
-- KEYS[3]  hash        names: the same, for ids that begin with n:
-- KEYS[4]  sorted set  changed: chunk id, scored by commit number
-- KEYS[5]  sorted set  versions: version, scored by commit number
-- ARGV[1]  string      version that was seen
-- ARGV[2]  integer     its commit number
-- Returns {'SAME'}, {'WHOLE'} (that version is no ancestor of the present one: read everything), or
-- {'SINCE', meta as field, value ..., chunks as id, bytes ...}.
local kept = redis.call('HMGET', KEYS[1], 'ver', 'number', 'chunks')
if (kept[1] or '') == ARGV[1] and (kept[2] or '0') == ARGV[2] then
  return {'SAME'}
end
if tonumber(redis.call('ZSCORE', KEYS[5], ARGV[1]) or -1) ~= tonumber(ARGV[2]) then
  return {'WHOLE'}
end
if redis.call('ZCARD', KEYS[4]) ~= tonumber(kept[3]) then
  return {'WHOLE'}
end
local chunks = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '(' .. ARGV[2], '+inf')) do
  local home = string.sub(id, 1, 2) == 'n:' and KEYS[3] or KEYS[2]
  chunks[#chunks + 1] = id
  chunks[#chunks + 1] = redis.call('HGET', home, id) or ''
end
return {'SINCE', redis.call('HGETALL', KEYS[1]), chunks}
