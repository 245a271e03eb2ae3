import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { answerHeaders } from "../routes/middleware/answer_headers.ts";
import { floodGate } from "../routes/middleware/flood_gate.ts";
import { validate } from "../routes/middleware/validate.ts";
import { errorBoundary } from "../routes/middleware/error_boundary.ts";
import { notFound } from "../routes/middleware/not_found.ts";
import { FloodControl } from "../lib/guard/flood.ts";
import { BodyWatch } from "../lib/guard/body_watch.ts";
import { systemClock } from "../lib/core/clock.ts";
import { silentLog } from "../lib/core/log.ts";
import { statementBody } from "../routes/v1/sql_schemas.ts";
import type { Env } from "../routes/env.ts";
const mode=Deno.args[0]!, port=Number(Deno.args[1]);
const body=JSON.stringify({success:true,data:{columns:["a"],rows:[[1]],rowsRead:1,rowsWritten:0},meta:{rowsRead:1,rowsWritten:0,durationMs:0,statementCount:1,costUsd:1e-7,snapshot:null,queryLogId:"qry_01JD"}});
const app=new Hono<Env>();
app.onError(errorBoundary(silentLog)); app.notFound(notFound(app));
const has=(x:string)=>mode.includes(x);
if(has("h")) app.use(answerHeaders(systemClock,new BodyWatch(30))); else if (has("w")) { const w=new BodyWatch(30); app.use((c,n)=>{c.set("bodyWatch",w); return n();}); }
if(has("f")) app.use(floodGate({flood:new FloodControl(1e9),clock:systemClock,trustedHops:0}));
if(has("n")) app.use((_c,n)=>n());
if(has("a")) app.use(async (_c,n)=>{await n();});
const v=new Hono<Env>();
const d=describeRoute({summary:"x"});
if(has("v")) { if(has("d")) v.post("/query", d, validate("json",statementBody), (c)=>{ c.req.valid("json").sql; return new Response(body,{headers:{"content-type":"application/json"}});}); else v.post("/query", validate("json",statementBody), (c)=>{ c.req.valid("json").sql; return new Response(body,{headers:{"content-type":"application/json"}});}); }
else if(has("j")) v.post("/query", async (c)=>{ await c.req.json(); return new Response(body,{headers:{"content-type":"application/json"}});});
else v.post("/query", (_c)=>new Response(body,{headers:{"content-type":"application/json"}}));
app.route("/v1/db/:ns/:db",v);
if(has("O")) { /* bare */ Deno.serve({port,hostname:"127.0.0.1",onListen(){}},()=>new Response(body,{headers:{"content-type":"application/json"}})); } else
Deno.serve({port,hostname:"127.0.0.1",onListen(){}},app.fetch);
