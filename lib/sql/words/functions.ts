// SQL functions, table-valued functions and virtual-table modules that tenants may use. Everything else is refused, so
// that a function of a newer engine (or of libSQL) is closed until somebody has reviewed it.

const scalar =
  "abs changes char coalesce concat concat_ws format glob hex ifnull iif if instr last_insert_rowid " +
  "length like likelihood likely lower ltrim match max min nullif octet_length printf quote random randomblob regexp " +
  "replace round rtrim sign soundex sqlite_source_id sqlite_version substr substring total_changes trim typeof " +
  "unhex unicode unistr unistr_quote unlikely upper zeroblob subtype";
const aggregate =
  "avg count group_concat string_agg median percentile percentile_cont percentile_disc sum total";
const dates =
  "date time datetime julianday unixepoch strftime timediff current_date current_time current_timestamp";
const window =
  "row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value";
const math =
  "acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod " +
  "pi pow power radians sin sinh sqrt tan tanh trunc";
const json = "json jsonb json_array jsonb_array json_array_length json_array_insert jsonb_array_insert " +
  "json_error_position json_extract jsonb_extract " +
  "json_insert jsonb_insert json_object jsonb_object json_patch jsonb_patch json_pretty json_quote json_remove " +
  "jsonb_remove json_replace jsonb_replace json_set jsonb_set json_type json_valid json_group_array " +
  "jsonb_group_array json_group_object jsonb_group_object -> ->>";
const search = "bm25 highlight snippet fts5_source_id rtreecheck";
// Functions of the engine inside ALTER TABLE; SQL text cannot call them.
const internal = "sqlite_rename_table sqlite_rename_column sqlite_rename_test sqlite_rename_quotefix " +
  "sqlite_drop_column sqlite_add_constraint sqlite_drop_constraint sqlite_find_constraint sqlite_fail";

/** The functions that a statement may call, in lower case. */
export const allowedFunctions: ReadonlySet<string> = new Set(
  [scalar, aggregate, dates, window, math, json, search, internal].join(" ").split(" "),
);

const closed =
  "load_extension readfile writefile edit lsmode fts3_tokenizer fts5 fts5_get_locale fts5_insttoken fts5_locale " +
  "matchinfo offsets optimize rtreedepth rtreenode sqlite_compileoption_get sqlite_compileoption_used sqlite_log " +
  "sqlite_offset sha3 sha3_agg sha3_query sha1 sha1_query sqlar_compress sqlar_uncompress zipfile fsdir eval " +
  "uuid uuid_blob uuid_str regexpi";
// Further functions of libSQL.
const closedElsewhere =
  "atn2 charindex cot coth difference geopoly_area geopoly_bbox geopoly_blob geopoly_ccw geopoly_contains_point " +
  "geopoly_debug geopoly_group_bbox geopoly_json geopoly_overlap geopoly_regular geopoly_svg geopoly_within " +
  "geopoly_xform last_rows_affected leftstr libsql_server_database_name libsql_vector_idx lower_quartile mode padc " +
  "padl padr proper replicate reverse rightstr sqlite3mc_codec_data sqlite3mc_config sqlite3mc_config_table " +
  "sqlite3mc_version sqlite_crypt square stdev strfilter upper_quartile variance vector vector16 vector1bit vector32 " +
  "vector64 vector8 vector_distance_cos vector_distance_l2 vector_extract vectorb16";

/** Functions that an engine or a tool of SQLite has and no tenant may use; any other name counts as a typing error. */
export const closedFunctions: ReadonlySet<string> = new Set([closed, closedElsewhere].join(" ").split(" "));

/** Table-valued functions, in addition to `pragma_<name>` for the PRAGMA table. */
export const allowedTableFunctions: ReadonlySet<string> = new Set([
  "json_each",
  "json_tree",
  "jsonb_each",
  "jsonb_tree",
  "generate_series",
]);

/** Modules of CREATE VIRTUAL TABLE. */
export const allowedModules: ReadonlySet<string> = new Set(["fts5", "rtree", "rtree_i32"]);
