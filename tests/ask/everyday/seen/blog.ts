// A blog: drafts without a date of publication, comments that wait for approval, tags by a table between.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const blog: EverydaySchema = {
  name: "blog",
  tables: ["users", "posts", "comments", "tags", "post_tags"],
  statements: statementsOf(`
CREATE TABLE users (id INTEGER PRIMARY KEY, handle TEXT NOT NULL UNIQUE, display_name TEXT NOT NULL, email TEXT NOT NULL, is_admin INTEGER NOT NULL DEFAULT 0, banned_at TEXT);
CREATE TABLE posts (id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES users(id), title TEXT NOT NULL, body TEXT, status TEXT NOT NULL, published_at TEXT, reading_time_min INTEGER, views INTEGER NOT NULL DEFAULT 0);
CREATE TABLE comments (id INTEGER PRIMARY KEY, post_id INTEGER NOT NULL REFERENCES posts(id), user_id INTEGER NOT NULL REFERENCES users(id), body TEXT, posted_at TEXT NOT NULL, approved INTEGER NOT NULL DEFAULT 0, deleted_at TEXT);
CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE post_tags (post_id INTEGER NOT NULL REFERENCES posts(id), tag_id INTEGER NOT NULL REFERENCES tags(id), PRIMARY KEY (post_id, tag_id));
INSERT INTO users VALUES (1,'mia','Mia Holt','mia@example.com',1,NULL),(2,'noel','Noel Park','noel@example.com',0,NULL),(3,'oz','Oz Tan','oz@example.com',0,'2026-02-01 10:00:00'),(4,'petra','Petra Lang','petra@example.com',0,NULL),(5,'quin','Quin Abbott','quin@example.com',1,NULL);
INSERT INTO posts VALUES (1,1,'Hello World','…','published','2025-06-01 08:00:00',3,5400),(2,1,'Scaling SQLite','…','published','2026-01-22 09:30:00',12,18200),(3,2,'Why I Left','…','archived','2025-08-14 19:00:00',6,900),(4,2,'Tiny Gardens','…','published','2026-02-17 07:00:00',5,2300),(5,4,'Untitled','…','draft',NULL,2,0),(6,4,'Sourdough Notes','…','published','2026-03-03 12:00:00',9,4100),(7,1,'Backups That Work','…','draft',NULL,15,0),(8,5,'Release 2.0','…','published','2026-03-12 15:00:00',4,7600);
INSERT INTO comments VALUES (1,1,2,'Nice','2025-06-02 09:00:00',1,NULL),(2,2,3,'First','2026-01-23 10:00:00',1,NULL),(3,2,4,'Thanks','2026-01-25 11:00:00',0,NULL),(4,2,2,'Typo','2026-02-02 12:00:00',1,'2026-02-03 08:00:00'),(5,4,1,'Lovely','2026-02-18 13:00:00',1,NULL),(6,6,2,'Yum','2026-03-04 14:00:00',0,NULL),(7,6,5,'Recipe?','2026-03-05 15:00:00',1,NULL),(8,8,4,'Great','2026-03-13 16:00:00',0,NULL),(9,8,2,'When?','2026-03-17 17:00:00',1,NULL),(10,2,5,'Bravo','2026-03-15 18:00:00',1,NULL);
INSERT INTO tags VALUES (1,'sqlite'),(2,'life'),(3,'garden'),(4,'food'),(5,'news');
INSERT INTO post_tags VALUES (1,2),(2,1),(3,2),(4,3),(4,2),(6,4),(7,1),(8,1);
`),
  descriptions: [
    {
      table: "posts",
      columns: [
        { column: "status", description: "draft, published or archived" },
        {
          column: "published_at",
          description: "When it went public for the first time; empty for what has not been published yet",
        },
        { column: "views", description: "How often it was viewed" },
        { column: "reading_time_min", description: "Time to read it, in minutes" },
      ],
    },
    {
      table: "comments",
      columns: [
        { column: "approved", description: "1 when a moderator approved it, 0 while it waits for approval" },
        { column: "deleted_at", description: "When it was deleted; empty otherwise" },
      ],
    },
    {
      table: "users",
      columns: [{ column: "banned_at", description: "Since when the user is banned; empty otherwise" }],
    },
  ],
  questions: [
    { q: "Which posts are still drafts?", sql: "SELECT title FROM posts WHERE status = 'draft'" },
    { q: "what's the most viewed post", sql: "SELECT title FROM posts ORDER BY views DESC LIMIT 1" },
    {
      q: "How many comments are waiting for approval?",
      sql: "SELECT count(*) FROM comments WHERE approved = 0",
    },
    { q: "Who is banned?", sql: "SELECT display_name FROM users WHERE banned_at IS NOT NULL" },
    {
      q: "Which posts were published last month?",
      sql: "SELECT title FROM posts WHERE published_at >= '2026-02-01' AND published_at < '2026-03-01'",
    },
    {
      q: "Which posts are tagged sqlite?",
      sql: "SELECT p.title FROM posts p JOIN post_tags t ON t.post_id = p.id WHERE t.tag_id = 1",
    },
    {
      q: "Are there posts nobody commented on?",
      sql: "SELECT title FROM posts WHERE id NOT IN (SELECT post_id FROM comments)",
    },
    { q: "Show all comments by Noel Park", sql: "SELECT id FROM comments WHERE user_id = 2" },
    {
      q: "Which posts take more than 10 minutes to read?",
      sql: "SELECT title FROM posts WHERE reading_time_min > 10",
    },
    {
      q: "which tags aren't used by any post?",
      sql: "SELECT name FROM tags WHERE id NOT IN (SELECT tag_id FROM post_tags)",
    },
    {
      q: "posts per author",
      sql: [
        "SELECT u.display_name, count(*) FROM posts p JOIN users u ON u.id = p.author_id GROUP BY u.id",
        "SELECT u.display_name, count(p.id) FROM users u LEFT JOIN posts p ON u.id = p.author_id GROUP BY u.id",
      ],
    },
    { q: "deleted comments", sql: "SELECT id FROM comments WHERE deleted_at IS NOT NULL" },
    { q: "total views of published posts", sql: "SELECT sum(views) FROM posts WHERE status = 'published'" },
    {
      q: "top 3 posts by views",
      sql: "SELECT title, views FROM posts ORDER BY views DESC LIMIT 3",
      inOrderOf: 1,
    },
    { q: "users who are not admins", sql: "SELECT display_name FROM users WHERE is_admin = 0" },
    {
      q: "posts with more than two comments",
      sql:
        "SELECT p.title FROM posts p JOIN comments c ON c.post_id = p.id GROUP BY p.id HAVING count(*) > 2",
    },
    { q: "posts not published yet", sql: "SELECT title FROM posts WHERE published_at IS NULL" },
    {
      q: "average reading time of published posts",
      sql: "SELECT avg(reading_time_min) FROM posts WHERE status = 'published'",
    },
    { q: "Which posts went viral on Twitter?", mustRefuse: true },
    { q: "Who liked Scaling SQLite?", mustRefuse: true },
  ],
};
