// The table of other dialects' functions, with `|` between those that are replaced by the same.

/** Makes a UUID of version 4 as text, the form that inputs of that type take. */
export const UUID_EXPRESSION =
  "lower(printf('%s-%s-4%s-a%s-%s', hex(randomblob(4)), hex(randomblob(2)), substr(hex(randomblob(2)), 2), " +
  "substr(hex(randomblob(2)), 2), hex(randomblob(6))))";

/** Names → what to write here. */
export const dialectFunctions: readonly (readonly [names: string, hint: string])[] = [
  ["CONVERT|TRY_CAST", "Write CAST(<value> AS TEXT), INTEGER or REAL; JSON, dates and UUIDs are text"],
  [
    "NOW|GETDATE|SYSDATETIME|LOCALTIMESTAMP",
    "Write datetime('now') for the time in UTC, or unixepoch() for seconds",
  ],
  ["CURDATE|TODAY", "Write date('now')"],
  [
    "DATE_TRUNC|TRUNC_DATE",
    "Write strftime('%Y-%m-01', <column>) for the month, or date(<column>, 'start of month')",
  ],
  [
    "EXTRACT|DATE_PART|DATEPART",
    "Write CAST(strftime('%Y', <column>) AS INTEGER): %Y, %m, %d, %H, %w for the parts",
  ],
  [
    "YEAR|MONTH|DAY|HOUR|WEEKDAY|DAYOFWEEK",
    "Write CAST(strftime('%Y', <column>) AS INTEGER): %Y, %m, %d, %H, %w for the parts",
  ],
  ["DATE_ADD|DATE_SUB|DATEADD|ADDDATE", "Write date(<column>, '+7 days') or datetime(<column>, '-1 month')"],
  ["DATEDIFF|TIMESTAMPDIFF|AGE", "Write julianday(<later>) - julianday(<earlier>), which are days"],
  ["TO_CHAR|DATE_FORMAT|FORMAT_DATE", "Write strftime('%Y-%m-%d', <column>)"],
  [
    "TO_DATE|TO_TIMESTAMP|STR_TO_DATE",
    "Store dates as text like 2026-11-30 and compare them as they are; datetime(<seconds>, 'unixepoch') reads numbers",
  ],
  ["LEFT", "Write substr(<text>, 1, <n>)"],
  ["RIGHT", "Write substr(<text>, -<n>)"],
  ["POSITION", "Write instr(<text>, <part>)"],
  ["STRPOS|LOCATE|CHARINDEX", "Write instr(<text>, <part>)"],
  ["LEN|CHAR_LENGTH|CHARACTER_LENGTH|DATALENGTH", "Write length(<text>)"],
  ["LPAD|RPAD", "Write printf('%05d', <number>) or substr('00000' || <text>, -5)"],
  ["INITCAP", "Write upper(substr(<text>, 1, 1)) || substr(<text>, 2)"],
  ["GREATEST", "Write max(<a>, <b>): with several arguments it compares them"],
  ["LEAST", "Write min(<a>, <b>): with several arguments it compares them"],
  ["NVL|ISNULL", "Write ifnull(<value>, <otherwise>) or coalesce(…)"],
  ["RAND", "Write random(), a 64-bit integer; abs(random() % 100) is a number below 100"],
  [
    "UUID|GEN_RANDOM_UUID|UUID_GENERATE_V4|NEWID",
    `Write ${UUID_EXPRESSION}, or send an id as a parameter`,
  ],
  [
    "LAST_INSERT_ID|LASTVAL|SCOPE_IDENTITY",
    "Write RETURNING id at the end of the INSERT, or read lastInsertRowid of the answer",
  ],
  [
    "NEXTVAL|CURRVAL",
    "Write id INTEGER PRIMARY KEY, leave it out of the INSERT and read lastInsertRowid of the answer",
  ],
  ["ARRAY_AGG|JSON_AGG|JSONB_AGG|JSON_ARRAYAGG", "Write json_group_array(<column>)"],
  ["ROW_TO_JSON|JSON_BUILD_OBJECT|JSONB_BUILD_OBJECT", "Write json_object('name', <column>, …)"],
  ["UNNEST", "Write FROM json_each(?) with a JSON array as the parameter"],
  [
    "SPLIT_PART|SUBSTRING_INDEX",
    "Write substr(<text>, 1, instr(<text>, '@') - 1) for what stands before, substr(<text>, instr(<text>, '@') + 1) for what follows",
  ],
  [
    "GENERATE_SERIES",
    "Write WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n",
  ],
  [
    "MD5|SHA|SHA1|SHA2|SHA256|SHA512|CRYPT|DIGEST",
    "Hash in the app: the engine has no hash functions; passwords are hashed by a published sign-up",
  ],
  ["VERSION", "Write sqlite_version()"],
  [
    "BOOL_OR|BOOL_AND|EVERY",
    "Write max(<condition>) where one has to hold, min(<condition>) where all have to",
  ],
  ["ANY_VALUE", "Write max(<column>)"],
  [
    "STDDEV|STDDEV_POP|STDDEV_SAMP|VARIANCE|VAR_POP",
    "Write avg(<x> * <x>) - avg(<x>) * avg(<x>): it is the variance",
  ],
  ["UNIX_TIMESTAMP", "Write unixepoch(), or unixepoch(<column>)"],
  ["FROM_UNIXTIME", "Write datetime(<seconds>, 'unixepoch')"],
  ["MAKE_DATE", "Write printf('%04d-%02d-%02d', <year>, <month>, <day>)"],
  ["REPEAT|REPLICATE", "Write replace(hex(zeroblob(<n>)), '00', <text>)"],
  ["ASCII|ORD", "Write unicode(<text>)"],
  ["CHR", "Write char(<number>)"],
  ["JSON_CONTAINS|JSONB_EXISTS", "Write EXISTS (SELECT 1 FROM json_each(<column>) WHERE value = ?)"],
  [
    "VECTOR|VECTOR32|VECTOR64|VECTOR_DISTANCE_COS|VECTOR_DISTANCE_L2|VECTOR_EXTRACT|VECTOR_TOP_K|LIBSQL_VECTOR_IDX",
    "Keep vectors as BLOBs and compare them in the app: the engine has no vector functions",
  ],
  ["PG_SLEEP|SLEEP", "Wait in the app: no statement waits"],
];
