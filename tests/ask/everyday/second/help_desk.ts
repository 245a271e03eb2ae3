// A help desk in camel case: moments in Unix seconds, agents with managers, two references to one table, a bin for tickets.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const helpDesk: EverydaySchema = {
  name: "help-desk",
  tables: ["Agent", "Customer", "Ticket", "Tag", "TicketTag"],
  statements: statementsOf(`
CREATE TABLE Agent (agentId INTEGER PRIMARY KEY, displayName TEXT NOT NULL, team TEXT NOT NULL, managerId INTEGER REFERENCES Agent(agentId), isActive INTEGER NOT NULL DEFAULT 1);
CREATE TABLE Customer (customerId INTEGER PRIMARY KEY, company TEXT NOT NULL, contactEmail TEXT, plan TEXT NOT NULL);
CREATE TABLE Ticket (ticketId INTEGER PRIMARY KEY, subject TEXT NOT NULL, customerId INTEGER NOT NULL REFERENCES Customer(customerId), createdById INTEGER NOT NULL REFERENCES Agent(agentId), assigneeId INTEGER REFERENCES Agent(agentId), priority TEXT NOT NULL, status TEXT NOT NULL, createdAt INTEGER NOT NULL, solvedAt INTEGER, firstReplyMinutes INTEGER, duplicateOfId INTEGER REFERENCES Ticket(ticketId), deletedAt INTEGER);
CREATE TABLE Tag (tagId INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE);
CREATE TABLE TicketTag (ticketId INTEGER NOT NULL REFERENCES Ticket(ticketId), tagId INTEGER NOT NULL REFERENCES Tag(tagId), PRIMARY KEY (ticketId, tagId));
INSERT INTO Agent VALUES (1,'Nadia Brandt','Billing',NULL,1),(2,'Omar Said','Billing',1,1),(3,'Priya Nair','Technical',1,1),(4,'Quentin Roy','Technical',3,0),(5,'Rhea Stone','Onboarding',1,1);
INSERT INTO Customer VALUES (1,'Acme Tools','it@acme.example','enterprise'),(2,'Bluebird Cafe','hi@bluebird.example','free'),(3,'Cobalt Labs',NULL,'pro'),(4,'Dune Travel','ops@dune.example','free'),(5,'Ember Arts','art@ember.example','pro');
INSERT INTO Ticket VALUES (1,'Invoice is wrong',1,2,2,'high','solved',unixepoch('2026-02-03 09:00:00'),unixepoch('2026-02-05 10:00:00'),45,NULL,NULL),(2,'Cannot log in',2,3,3,'urgent','open',unixepoch('2026-03-17 08:20:00'),NULL,200,NULL,NULL),(3,'Export is slow',3,3,4,'normal','pending',unixepoch('2026-03-10 13:00:00'),NULL,130,NULL,NULL),(4,'Refund please',1,2,NULL,'urgent','new',unixepoch('2026-03-17 22:10:00'),NULL,NULL,NULL,NULL),(5,'Login broken',2,5,3,'normal','solved',unixepoch('2026-03-17 09:00:00'),unixepoch('2026-03-17 12:00:00'),20,2,NULL),(6,'Test ticket',3,2,NULL,'low','open',unixepoch('2026-03-01 10:00:00'),NULL,NULL,NULL,unixepoch('2026-03-02 10:00:00')),(7,'Change of address',4,5,2,'low','solved',unixepoch('2026-03-04 10:00:00'),unixepoch('2026-03-09 10:00:00'),90,NULL,NULL),(8,'API returns 500',1,2,3,'high','open',unixepoch('2026-03-16 15:30:00'),NULL,15,NULL,NULL);
INSERT INTO Tag VALUES (1,'billing'),(2,'refund'),(3,'login'),(4,'api');
INSERT INTO TicketTag VALUES (1,1),(4,1),(4,2),(2,3),(5,3),(7,1),(8,4);
`),
  descriptions: [
    {
      table: "Agent",
      description: "A person who works at the help desk",
      columns: [{ column: "managerId", description: "The agent whom this one reports to" }],
    },
    {
      table: "Ticket",
      columns: [
        { column: "createdAt", description: "Unix seconds" },
        { column: "solvedAt", description: "Unix seconds; empty until it is solved" },
        { column: "createdById", description: "The agent who wrote it down" },
        { column: "assigneeId", description: "The agent who works on it; empty while nobody does" },
        { column: "duplicateOfId", description: "The ticket that it is a duplicate of" },
        {
          column: "deletedAt",
          description: "When it was moved to the bin, in Unix seconds; empty unless it was deleted",
        },
      ],
    },
  ],
  questions: [
    {
      q: "How many tickets are open?",
      sql: [
        "SELECT count(*) FROM Ticket WHERE status = 'open'",
        "SELECT count(*) FROM Ticket WHERE status = 'open' AND deletedAt IS NULL",
      ],
    },
    {
      q: "tickets that nobody is assigned to",
      sql: [
        "SELECT ticketId FROM Ticket WHERE assigneeId IS NULL",
        "SELECT ticketId FROM Ticket WHERE assigneeId IS NULL AND deletedAt IS NULL",
      ],
    },
    {
      q: "Show urgent tickets from enterprise customers",
      sql:
        "SELECT ticketId FROM Ticket t JOIN Customer c ON c.customerId = t.customerId WHERE priority = 'urgent' AND plan = 'enterprise'",
    },
    {
      q: "what tickets came in yesterday?",
      sql: "SELECT ticketId FROM Ticket WHERE date(createdAt, 'unixepoch') = '2026-03-17'",
    },
    {
      q: "tickets where the first reply took more than 2 hours",
      sql: "SELECT ticketId FROM Ticket WHERE firstReplyMinutes > 120",
    },
    {
      q: "Who reports to Nadia Brandt?",
      sql: "SELECT displayName FROM Agent WHERE managerId = 1",
    },
    {
      q: "How many tickets were solved this month?",
      sql: "SELECT count(*) FROM Ticket WHERE solvedAt >= unixepoch('2026-03-01')",
    },
    {
      q: "tickets tagged billing but not refund",
      sql:
        "SELECT ticketId FROM Ticket WHERE ticketId IN (SELECT ticketId FROM TicketTag WHERE tagId = 1) AND ticketId NOT IN " +
        "(SELECT ticketId FROM TicketTag WHERE tagId = 2)",
    },
    {
      q: "wich customers have never sent us a ticket",
      sql: "SELECT company FROM Customer WHERE customerId NOT IN (SELECT customerId FROM Ticket)",
    },
    { q: "deleted tickets", sql: "SELECT ticketId FROM Ticket WHERE deletedAt IS NOT NULL" },
    {
      q: "free plan customers with at least 2 tickets",
      sql:
        "SELECT company FROM Customer c JOIN Ticket t ON t.customerId = c.customerId WHERE plan = 'free' GROUP BY c.customerId HAVING count(*) >= 2",
    },
    {
      q: "Which agents are inactive?",
      sql: "SELECT displayName FROM Agent WHERE isActive = 0",
    },
    {
      q: "number of tickets by priority, excluding solved ones",
      sql: [
        "SELECT priority, count(*) FROM Ticket WHERE status <> 'solved' GROUP BY priority",
        "SELECT priority, count(*) FROM Ticket WHERE status <> 'solved' AND deletedAt IS NULL GROUP BY priority",
      ],
    },
    { q: "Which customer is the angriest?", mustRefuse: true },
    { q: "tickets that were escalated to the developers", mustRefuse: true },
  ],
};
