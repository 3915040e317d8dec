// Package bus carries messages between the kernel and everybody else over NATS. The server is embedded in this process,
// and has no network listener unless one is requested. The package does not interpret what it carries: payloads are
// bytes. The ledger is the source of truth; a message is only a wakeup.
//
// # Permissions
//
// Every principal has NATS accounts of its own, so nobody else can receive what it publishes, or messages to a reply
// subject that it names. Accounts are connected by imports only:
//
//	AGENT_<name>      subscribes for an agent: receives its own wakeups
//	TOOL_<name>       subscribes for a tool: receives its own commands
//	HUB_<name>        subscribes for a hub: receives the broadcasts
//	OPERATOR_<name>   subscribes for an operator: receives the progress of calls
//	TOOLSRV_<name>    discovery of a tool: answers who it is ($SRV), and nothing else
//	<KIND>RPC_<name>  requests of each: sends the operations of its kind (see
//	                  [Ops]), receives its own answers; an operator's may send
//	                  discovery requests to all tools, and nothing to the kernel
//	KERNEL            the responder answers requests and may publish only to the
//	                  answer subjects that the server makes; the publisher sends
//	                  commands, wakeups, broadcasts and the events of tools, and
//	                  receives nothing
//
// Subscriptions and requests use separate accounts because of the reply subject. A request may name the sender's own
// command subject as its reply subject, but the answer then arrives in an account in which nobody listens for commands.
// A subscribe account may publish nothing at all. A message that it receives therefore came from the kernel, even if an
// attacker controls another process with the same credentials.
//
// The server sets the caller's identity, never the caller. An account has one import for each operation that its kind
// may request, which maps
//
//	earshot.v1.<project>.kernel.<op>   to   earshot.v1.<project>.kernel.<kind>.<name>.<op>
//
// inside KERNEL. An agent that requests a tool's operation publishes to a subject without a subscriber.
//
// # Enforcement, and the reasons for it
//
// Accounts, exports, imports and users are built with the server's own types and passed to it before it starts. A
// generated configuration file would take the same path after one more parser, which could read a name as syntax and a
// password as a variable. Here there is no text to inject into. Three properties of the server determine the details:
//
//   - Permissions are checked on the subject of a message, not on its reply
//     subject. That is why accounts are the first barrier, and permissions the
//     second one.
//   - A reply subject that begins with $JS.ACK. is not replaced by an import. This
//     version of the server refuses it from a client. If another accepts it, the
//     responder drops the request, and its publish list prevents an answer.
//   - An empty allow list for subscriptions means "everything". A connection that
//     may do nothing therefore has a deny of everything. Denies are used nowhere
//     else, and the server's allow_responses never.
//
// The kernel's credentials work only inside this process, even when the bus listens, unless Options.Kernels admits
// kernels of other processes.
//
// JetStream is off: a lost command is found in the ledger and sent again. JetStream can be turned on for the KERNEL
// account, to show that this does not bypass the accounts. The benchmark of this package compares the cost of the two
// ways.
package bus
