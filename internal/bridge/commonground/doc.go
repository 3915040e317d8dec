// Package commonground lets tool services of a running CommonGround installation serve turns of Earshot, its agents use tools
// of Earshot, and agents of the two ask each other, unmodified. Those services and agents use a JetStream stream and the installation's PostgreSQL; Earshot's
// bus and ledger stay closed to them. The bridge is one third-party peer of Earshot (a credential of the role foreign) and
// one agent of the installation's roster:
//
//	Earshot's command  -> their tool.call card, request edge and command anchor, in one transaction; then their stream
//	their wakeup       -> their tool_result row and its card; then Earshot's requests card and report; then the row is consumed
//
// Nothing is sent on the bridge's own account. A command goes out when Earshot sends one, and again only when Earshot sends
// it again, and one to their PMO not even then, so a start stays Earshot's decision: a bridge that comes back after a crash only collects results. Rows, edges
// and messages have ids that follow from the call's, so a repeated command adds nothing, and Earshot takes a repeated report
// as the same one.
//
// In the other direction it is a tool service of the installation and an outside agent of Earshot:
//
//	their command  -> Earshot's call, known by theirs, or a question to one of its agents; then their tool.result card, row and edge, in one transaction; then a wakeup
//
// Of their database the bridge reads the roster, the tools, the cards, the rows of its own agent's inbox, and what was entered
// for a command to it. It inserts cards, edges and rows, and marks rows of its own inbox as consumed, as a worker does;
// otherwise their watchdog would announce them for ever. It touches no heads, waiting rows, steps or PMO tables.
//
// tool.go, call.go, result.go, theircall.go and question.go translate and are pure; database.go with answer.go, stream.go and peer.go are one
// connection each; bridge.go joins them for calls of ours, provide.go for theirs.
package commonground
