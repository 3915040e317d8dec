// Package bus carries messages between the kernel and everybody else over NATS: an
// embedded server, in this process, without a network listener unless one is asked
// for. It knows nothing of what it carries. Payloads are bytes; the ledger is the
// truth; a message is only a wakeup.
//
// # Who can do what
//
// Every principal lives in NATS accounts of its own, so nothing that it publishes,
// and no reply subject that it names, can be heard by anybody else. Accounts are
// joined by imports alone:
//
//	AGENT_<name>      subscribes for an agent: hears its own wakeups
//	TOOL_<name>       subscribes for a tool: hears its own commands
//	HUB_<name>        subscribes for a hub: hears the broadcasts
//	OPERATOR_<name>   subscribes for an operator: hears how far calls are
//	TOOLSRV_<name>    discovery of a tool: answers who it is ($SRV), and nothing else
//	<KIND>RPC_<name>  requests of each: asks for the operations of its kind (see
//	                  [Ops]), hears its own answers; an operator's asks the discovery
//	                  of all tools, and the kernel for nothing
//	KERNEL            the responder answers requests and may publish only to the
//	                  answer subjects that the server makes; the publisher sends
//	                  commands, wakeups, broadcasts and the events of tools, and
//	                  hears nothing
//
// Subscriptions and requests are apart because of the reply subject: a request that names its own
// command subject as the place for an answer gets it in an account in which nobody
// listens for commands. A subscribe account may publish nothing at all. So a message that it
// hears came from the kernel, even if another process with the same credentials has
// fallen to an attacker.
//
// The caller's identity is put there by the server, never by the caller. An account
// has one import for each operation that its kind may ask for, which turns
//
//	earshot.v1.<project>.kernel.<op>   into   earshot.v1.<project>.kernel.<kind>.<name>.<op>
//
// inside KERNEL. An agent that asks for a tool's operation is asking on a subject
// that leads nowhere.
//
// # How it is enforced, and why like this
//
// Accounts, exports, imports and users are built with the server's own types and
// handed to it before it starts. A generated configuration text would go through
// the same code after one more parser, in which a name could be read as syntax and
// a password as a variable; there is no text here to inject into. Three properties
// of the server decide the details:
//
//   - Permissions are checked on the subject that is published to, not on the reply
//     subject that is named. That is why accounts are the wall, and permissions the
//     second one.
//   - A reply subject that begins with $JS.ACK. is not replaced by an import. This
//     version of the server refuses it from a client; should another let it through,
//     the responder drops the request, and its publish list stops an answer.
//   - An empty allow list for subscriptions means "everything". Where a connection
//     may do nothing, a deny of everything says so; nowhere else is a deny used, and
//     the server's allow_responses never.
//
// The credentials of the kernel work only inside this process, also when the bus
// listens, unless Options.Kernels lets kernels of other processes in.
//
// JetStream is off: a command that was lost is rung again from the ledger. It can
// be turned on for the KERNEL account, to show that this opens no way around the
// accounts. The benchmark of this package compares the cost of the two ways.
package bus
