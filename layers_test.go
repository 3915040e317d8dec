// Package earshot_test holds the rules of the project: what may import what, what a pure package may
// touch, how large a file may grow. The rules are data in this folder and are proved from the sources.
package earshot_test

const module = "github.com/earshot-dev/earshot"

// rule is one package of the project. A package may import, of our own, only what own lists, and all of it
// must lie on a lower layer; of others, only what third lists (a prefix of the import path).
type rule struct {
	pkg   string
	layer int
	own   []string
	third []string
	// beside names packages of the same layer that this one may import, each with the reason.
	beside map[string]string
	// both is the reason why a package may know the people's side (aaep) and the tools' side (utp, kernel)
	// at once. Without a reason it may not.
	both string
}

// pureLayer is the highest layer whose packages take time and chance as arguments and start nothing.
const pureLayer = 1

// jsonModule may be imported on every layer: raw JSON values are part of the wire messages and of the ports, and
// the product decodes with one library only, so that a duplicate key is refused everywhere in the same way.
const jsonModule = "github.com/go-json-experiment/json"

const (
	textModule  = "golang.org/x/text"
	sysModule   = "golang.org/x/sys"
	termModule  = "golang.org/x/term"
	yamlModule  = "go.yaml.in/yaml/v3"
	mcpModule   = "github.com/modelcontextprotocol/go-sdk"
	rapidModule = "pgregory.net/rapid"
)

// layerTable is the table of docs/design.md. A package that is not here fails the test, and so does a row without a package.
var layerTable = []rule{
	{pkg: "aaep", layer: 0, third: []string{textModule}},
	{pkg: "utp", layer: 0},
	{
		pkg: "api", layer: 0, third: []string{textModule}, // tags of languages
		beside: map[string]string{"utp": "what is asked of the kernel is about calls, cards and definitions, which are utp's"},
	},
	{pkg: "api/openapi", layer: 0}, // a document; what generates it is in its tests
	{pkg: "utp/schema", layer: 0},

	{pkg: "aaep/session", layer: 1, own: []string{"aaep", "aaep/legible"}},
	{pkg: "internal/kernel/consent", layer: 1},
	{pkg: "aaep/pacing", layer: 1, own: []string{"aaep"}, third: []string{textModule}},
	{pkg: "aaep/legible", layer: 0, third: []string{textModule}},
	{pkg: "aaep/capture", layer: 0},
	{pkg: "aaep/manifest", layer: 1, own: []string{"aaep"}},
	{pkg: "aaep/outline", layer: 1, own: []string{"aaep/legible"}},
	{
		pkg: "aaep/announce", layer: 1, own: []string{"aaep", "aaep/legible"},
		beside: map[string]string{"aaep/outline": "a question in full lists its values"},
	},
	{pkg: "internal/kernel/turn", layer: 1, own: []string{"api", "utp"}},
	{pkg: "internal/kernel/standing", layer: 1, own: []string{"api", "utp"}},
	{pkg: "internal/kernel/roster", layer: 1, own: []string{"api", "utp", "utp/schema"}},
	{pkg: "internal/kernel/delegation", layer: 1, own: []string{"utp"}, beside: map[string]string{"internal/kernel/turn": "it plans the turns that do a call"}},
	{pkg: "internal/kernel/queue", layer: 1, own: []string{"api"}, beside: map[string]string{"internal/kernel/turn": "it reads the turns that it puts in order"}},
	{
		pkg: "api/audit", layer: 1, own: []string{"aaep/legible", "api"},
		beside: map[string]string{"internal/passkey": "those who verify the chain verify the signatures under its accepts, by the same rules as the kernel"},
	},
	{pkg: "internal/passkey", layer: 1, own: []string{"aaep/legible", "api"}},
	{
		pkg: "internal/passkey/enrol", layer: 1, own: []string{"api"}, third: []string{"github.com/fxamacker/cbor"},
		beside: map[string]string{"internal/passkey": "what it reads is one of its keys"},
	},
	{pkg: "internal/gateway/hook", layer: 1},

	{
		pkg: "internal/kernel/store", layer: 2, own: []string{"internal/kernel/turn", "internal/kernel/consent", "internal/kernel/standing", "internal/passkey", "api", "utp"},
		both: "a turn is kept with its questions",
	},
	{
		pkg: "internal/kernel/admin", layer: 2, own: []string{"internal/kernel/delegation", "internal/kernel/queue", "internal/kernel/roster", "internal/kernel/turn", "internal/kernel/consent", "api", "utp"},
		beside: map[string]string{"internal/kernel/store": "it reads and purges the ledger through its port"},
		both:   "it lists questions beside calls",
	},
	{
		pkg: "internal/kernel/argument", layer: 2, own: []string{"api", "utp", "utp/schema"},
		beside: map[string]string{"internal/kernel/store": "a tool, a sealed value and a reference are the ledger's"},
	},
	{
		pkg: "internal/kernel/cards", layer: 2, own: []string{"internal/kernel/delegation", "internal/kernel/turn", "api", "utp"},
		beside: map[string]string{
			"internal/kernel/store":    "cards and the blobs that they refer to are rows of the ledger",
			"internal/kernel/argument": "a large value is divided as arguments are",
			"internal/kernel/ids":      "a card has a name",
		},
	},
	{
		pkg: "internal/kernel/admission", layer: 2, own: []string{"internal/kernel/delegation", "internal/kernel/roster", "internal/kernel/turn", "internal/kernel/standing", "internal/kernel/consent", "api", "utp"},
		beside: map[string]string{
			"internal/kernel/store":    "definitions, tools and permissions are rows of the ledger",
			"internal/kernel/argument": "arguments are resolved before a call is made",
			"internal/kernel/cards":    "a call that is made has a card",
			"internal/kernel/boxes":    "a turn begins only with boxes that it may use",
			"internal/kernel/ids":      "a call has a name",
			"internal/kernel/rulebook": "what the policy decides about a tool",
		},
		both: "a standing permission is made from the accept of a question",
	},
	{
		pkg: "internal/kernel/boxes", layer: 2, own: []string{"internal/kernel/turn", "api", "utp"},
		beside: map[string]string{
			"internal/kernel/store": "boxes are rows of the ledger",
			"internal/kernel/cards": "a box holds cards of its turns",
		},
	},
	{
		pkg: "internal/kernel/receipts", layer: 2, own: []string{"internal/kernel/turn", "internal/kernel/consent", "api"},
		beside: map[string]string{
			"internal/kernel/store": "receipts are rows of the ledger",
			"internal/kernel/cards": "a receipt has the sum of the card that it is about",
			"internal/kernel/ids":   "a receipt has a salt",
		},
		both: "an accept is recorded with the call that it is for",
	},
	{
		pkg: "internal/kernel/invocation", layer: 2, own: []string{"internal/kernel/turn", "api", "utp"},
		beside: map[string]string{
			"internal/kernel/store": "a request is found again in the ledger",
			"internal/kernel/cards": "the status of a call has its result",
		},
	},
	{
		pkg: "internal/kernel/replies", layer: 2, own: []string{"internal/kernel/turn", "internal/kernel/consent", "api", "utp"},
		beside: map[string]string{"internal/kernel/store": "a question is kept with its turn"},
		both:   "an answer to a question is asked for and refused in the kernel's own messages",
	},
	{
		pkg: "internal/kernel/external", layer: 2, own: []string{"internal/kernel/turn", "api", "utp"},
		beside: map[string]string{"internal/kernel/store": "answers and offered results are cards of the ledger"},
	},
	{
		pkg: "internal/kernel/rulebook", layer: 2, own: []string{"aaep/legible", "internal/kernel/roster", "internal/kernel/turn", "utp"},
		both:   "what is wrong is said apart from what stands in the file, so that a page can say it in another language",
		beside: map[string]string{"internal/kernel/store": "a rule decides about a registered tool"},
	},
	{
		pkg: "internal/kernel/passkeys", layer: 2, own: []string{"internal/kernel/turn", "internal/passkey", "internal/passkey/enrol", "api", "utp"},
		beside: map[string]string{"internal/kernel/store": "passkeys are rows of the ledger"},
	},
	{
		pkg: "internal/kernel/registry", layer: 2, own: []string{"api", "utp"},
		beside: map[string]string{"internal/kernel/store": "registered tools are rows of the ledger"},
	},
	{
		pkg: "internal/kernel/outbox", layer: 2, own: []string{"internal/kernel/turn"},
		beside: map[string]string{"internal/kernel/store": "what waits to leave is rows of the ledger"},
	},
	{pkg: "internal/kernel/ids", layer: 2},
	{
		pkg: "internal/kernel/outgoing", layer: 2, own: []string{"internal/kernel/turn", "utp"},
		beside: map[string]string{
			"internal/kernel/store":  "what is to leave is rows of the ledger",
			"internal/kernel/outbox": "a message that is a start says until when the outbox may send it",
			"internal/kernel/ids":    "a message has a span of its own",
		},
	},
	{pkg: "internal/kernel/hints", layer: 2, own: []string{"internal/kernel/turn", "api", "utp"}},
	{
		pkg: "internal/kernel/incarnation", layer: 2, own: []string{"api"},
		beside: map[string]string{"internal/kernel/store": "it counts in the transactions of the ledger"},
	},
	{pkg: "internal/kernel/active", layer: 2},
	{
		pkg: "internal/kernel/ticker", layer: 2, own: []string{"internal/kernel/turn"},
		beside: map[string]string{
			"internal/kernel/store":     "what is due is rows of the ledger",
			"internal/kernel/active":    "a turn that is left alone is not ticked",
			"internal/kernel/monotonic": "what is due is indexed by the clock that is never set back",
		},
	},
	{pkg: "internal/kernel/monotonic", layer: 2, own: []string{"internal/kernel/turn"}},
	{
		pkg: "internal/kernel", layer: 2, own: []string{"internal/kernel/delegation", "internal/kernel/queue", "internal/kernel/turn", "internal/kernel/standing", "api", "utp", "internal/kernel/consent", "internal/passkey"},
		beside: map[string]string{
			"internal/kernel/rulebook":    "what an operator's rules say is asked in the step that it is about",
			"internal/kernel/external":    "what third-party peers send is read, and answered, in their form",
			"internal/kernel/admission":   "each call of a step is made, and checked again, by the gate",
			"internal/kernel/outgoing":    "a step saves the messages that it sends",
			"internal/kernel/boxes":       "what a step reads and puts into its turn's boxes",
			"internal/kernel/receipts":    "a step saves what proves it later",
			"internal/kernel/replies":     "which question a reply is about, and why one does not count",
			"internal/kernel/invocation":  "what a program that is an agent asks for, and how its calls stand",
			"internal/kernel/argument":    "arguments are resolved before a step saves them",
			"internal/kernel/cards":       "what a step reads and adds of its turn's cards",
			"internal/kernel/store":       "the port to the ledger, which what looks after it uses too",
			"internal/kernel/active":      "a step asks whether its turn is one that this kernel works on",
			"internal/kernel/ticker":      "a step says when its turn is due",
			"internal/kernel/hints":       "what third-party followers hear of a step is published once it is committed",
			"internal/kernel/incarnation": "a step is counted in its own transaction, so that a restored ledger is found out",
			"internal/kernel/ids":         "a step names what it makes",
			"internal/kernel/monotonic":   "a step's time is taken, and how far the clock was set back is saved, within the step",
			"internal/kernel/registry":    "whether the service of a tool has it is asked before each call",
			"internal/kernel/passkeys":    "whether the signature under an accept counts is asked in the step of the accept",
			"internal/kernel/admin":       "what operators ask for is answered beside the life of a call",
			"internal/kernel/outbox":      "a step hands in what it has committed, and no longer looks after it",
		},
		both: "the gate needs the question machine; of the vocabulary of events it knows nothing",
	},
	{
		pkg: "internal/hub/access", layer: 2, own: []string{"api"}, third: []string{sysModule},
		beside: map[string]string{"internal/cause": "why something failed is put into words once"},
	},
	{
		pkg: "internal/hub", layer: 2, own: []string{"aaep", "aaep/pacing", "api", "utp"},
		beside: map[string]string{
			"internal/cause":      "why something failed is put into words once",
			"internal/rpc":        "asking the kernel, with its retries and paged values, exists once",
			"internal/hub/access": "who may hear and say what is asked at each delivery and each word",
		},
		both: "it reads ranges of events and hands answers in by the kernel's RPC, whose messages are api's",
	},
	{pkg: "internal/rpc", layer: 2, own: []string{"api", "utp"}},
	{pkg: "internal/boottime", layer: 2, third: []string{sysModule}},
	{pkg: "internal/memory", layer: 2},
	{
		pkg: "tool", layer: 2, own: []string{"api", "utp", "utp/schema"},
		beside: map[string]string{
			"internal/rpc":      "asking the kernel, with its retries and paged values, exists once",
			"internal/boottime": "a service measures how long ago it asked, also while its machine sleeps",
		},
	},
	{
		pkg: "tool/service", layer: 3, own: []string{"internal/cause", "tool"},
		beside: map[string]string{"internal/bus": "a service's process connects itself, so that its author writes no transport"},
	},
	{pkg: "internal/fault", layer: 2},
	{pkg: "internal/peer", layer: 2, third: []string{sysModule}},
	{
		pkg: "internal/presence", layer: 2,
		beside: map[string]string{"internal/boottime": "a session of a terminal belongs to one boot"},
	},
	{pkg: "internal/build", layer: 2},
	{pkg: "internal/example", layer: 0},
	{pkg: "internal/cause", layer: 2},
	{
		pkg: "tool/settings", layer: 2, own: []string{"aaep/legible", "utp", "utp/schema"}, third: []string{yamlModule},
		both: "what is wrong is said apart from what stands in the file, so that a page can say it in another language",
	},
	{pkg: "worker", layer: 2, own: []string{"api", "utp"}, beside: kernelClient()},
	{
		pkg: "worker/agent", layer: 3, own: []string{"internal/cause", "worker", "utp"},
		beside: map[string]string{"internal/bus": "an agent's process connects itself, so that its author writes no transport"},
	},
	{
		pkg: "client", layer: 2, own: []string{"aaep", "aaep/announce", "api"},
		beside: map[string]string{
			"internal/cause":     "why something failed is put into words once",
			"aaep/subscribe":     "there is one way to receive a stream of events",
			"aaep/transport/sse": "how long a line may be is said in one place",
		},
	},
	{
		pkg: "aaep/subscribe", layer: 2, own: []string{"aaep", "aaep/manifest", "aaep/transport"},
		beside: map[string]string{
			"aaep/transport/grpc":   "the frames of gRPC are read in one place, for both ends",
			"aaep/transport/pipe":   "the frames of a Unix socket are read in one place, for both ends",
			"aaep/transport/socket": "the frames of a WebSocket are read in one place, for both ends",
			"aaep/transport/sse":    "the lines of server-sent events are read in one place",
		},
	},
	{
		pkg: "aaep/serve", layer: 2, own: []string{"aaep", "aaep/pacing", "aaep/session", "aaep/transport"},
		beside: map[string]string{
			"aaep/transport/pipe":   "the frames of a Unix socket are written in one place, for both ends",
			"aaep/transport/socket": "the frames of a WebSocket are written in one place, for both ends",
			"aaep/transport/stream": "a stream is kept alive, and a conversation kept in order, in one place",
		},
	},
	{pkg: "aaep/serve/grpc", layer: 3, own: []string{"aaep", "aaep/serve", "aaep/transport", "aaep/transport/grpc"}},
	{pkg: "aaep/transport/sse", layer: 2},
	{pkg: "aaep/transport/stream", layer: 2, own: []string{"aaep", "aaep/transport"}},
	{pkg: "aaep/transport", layer: 1, own: []string{"aaep"}},
	{pkg: "aaep/transport/grpc", layer: 2, own: []string{"aaep", "aaep/transport"}},
	{pkg: "aaep/transport/pipe", layer: 2, own: []string{"aaep", "aaep/transport"}, third: []string{"github.com/Microsoft/go-winio", sysModule}}, // on Windows
	{pkg: "aaep/transport/socket", layer: 2, own: []string{"aaep/transport"}, third: []string{"github.com/coder/websocket"}},
	{
		pkg: "agents/tidy/files", layer: 2, third: []string{sysModule},
		beside: map[string]string{"internal/cause": "why something failed is put into words once"},
	},

	{
		pkg: "internal/kernel/store/ledgersql", layer: 3, own: []string{"internal/cause", "internal/kernel/store", "internal/kernel/standing", "internal/kernel/turn", "internal/kernel/consent", "api", "utp", "api/audit"},
		both: "it stores the kernel's questions beside its calls",
	},
	{pkg: "internal/datadir", layer: 3, own: []string{"internal/cause"}, third: []string{sysModule}},
	{pkg: "internal/rosterfile", layer: 3, own: []string{"api", "internal/kernel/roster", "tool/settings"}, third: []string{yamlModule}},
	{
		pkg: "internal/policyfile", layer: 3,
		own:   []string{"aaep/legible", "internal/cause", "internal/kernel/rulebook", "internal/kernel/store", "tool/settings"},
		third: []string{sysModule, "github.com/fsnotify/fsnotify"},
		both:  "what is wrong is said apart from what stands in the file, so that a page can say it in another language",
	},
	{pkg: "internal/kernel/clock", layer: 3, own: []string{"internal/boottime", "internal/kernel"}},
	{
		pkg: "internal/kernel/store/sqlite", layer: 3, own: []string{"internal/kernel/store"}, beside: ledgerRows(),
		third: []string{"modernc.org/sqlite", "github.com/pressly/goose/v3"},
	},
	{
		pkg: "internal/kernel/store/memory", layer: 3, own: []string{"internal/kernel/store", "internal/kernel/standing", "internal/kernel/turn", "internal/kernel/consent", "api", "utp", "api/audit"},
		beside: map[string]string{"internal/kernel/store/ledgersql": "what a document keeps, and how a ledger fails, is written once"},
		both:   "it stores the kernel's questions beside its calls",
	},
	{
		pkg: "internal/kernel/store/postgres", layer: 3, own: []string{"internal/boottime", "internal/kernel/store"}, beside: ledgerRows(),
		third: []string{"github.com/jackc/pgx/v5", "github.com/pressly/goose/v3"},
	},
	{pkg: "internal/bus", layer: 3, own: []string{"internal/cause", "api", "utp"}, third: []string{"github.com/nats-io"}},
	{
		pkg: "internal/surface/page", layer: 2, own: []string{"aaep", "aaep/announce", "aaep/legible", "aaep/outline", "api", "internal/phrasebook", "internal/surface/page/markdown"},
	},
	{pkg: "internal/phrasebook", layer: 1, third: []string{"github.com/leonelquinteros/gotext"}},
	{pkg: "internal/surface/page/markdown", layer: 1, own: []string{"aaep/legible"}, third: []string{"github.com/yuin/goldmark"}},
	{
		pkg: "internal/transport/web", layer: 3, own: []string{"internal/cause", "internal/hub", "internal/hub/access", "internal/passkey", "internal/surface/page", "internal/wording", "aaep/transport/grpc", "aaep/transport/socket", "aaep/transport/stream", "aaep/transport", "aaep", "aaep/announce", "aaep/capture", "aaep/legible", "aaep/manifest", "aaep/pacing", "api", "api/audit", "api/openapi", "utp", "utp/schema"},
		third: []string{textModule},
		beside: map[string]string{
			"internal/preference": "what people type into the settings page is read as in the terminal",
			"internal/operate":    "the lists of operators are read as in the terminal",
		},
		both: "its adapter of the hub hands words in by the kernel's messages, which are api's",
	},
	{
		pkg: "internal/narrate", layer: 3, own: []string{"internal/kernel", "internal/kernel/standing", "internal/kernel/store", "internal/kernel/turn", "api", "utp", "aaep", "aaep/legible", "aaep/outline", "aaep/session"}, third: []string{textModule},
		both: "it is the bridge: kernel steps in, events out",
	},
	{
		pkg: "internal/surface/terminal", layer: 3, own: []string{"internal/cause", "internal/kernel/standing", "internal/wording", "utp", "client", "api", "aaep", "aaep/announce", "aaep/legible"},
		third: []string{sysModule, textModule},
		both:  "a standing permission is worded here, and what it would mean is said by the machine that judges it",
	},
	{
		pkg: "internal/gateway/mcp", layer: 3, own: []string{"api", "client", "utp"},
		third: []string{mcpModule},
	},
	{
		pkg: "internal/gateway/producer", layer: 3, own: []string{"aaep", "aaep/session", "api", "client", "utp"},
		both: "it is a bridge: events of AAEP in, requests of an agent out",
	},
	{pkg: "internal/gateway/forward", layer: 3, own: []string{"aaep", "aaep/subscribe", "aaep/transport", "api", "client"}},
	{pkg: "internal/gateway/permission", layer: 3, own: []string{"api", "client", "internal/gateway/hook", "utp"}},
	{
		pkg: "internal/gateway/acp", layer: 3, own: []string{"aaep/legible", "api", "client", "internal/cause", "internal/gateway/hook", "internal/program", "utp"},
		third:  []string{"github.com/aymanbagabas/go-udiff", "github.com/coder/acp-go-sdk"},
		beside: map[string]string{"internal/gateway/permission": "how a permission is requested, and what counts as a yes, exists once"},
		both:   "it counts lines as people read them",
	},
	{
		pkg: "internal/program", layer: 2, third: []string{sysModule},
		beside: map[string]string{"internal/cause": "why something failed is put into words once"},
	},
	{pkg: "tool/command", layer: 3, own: []string{"internal/cause", "internal/program", "tool", "tool/settings", "utp"}, third: []string{yamlModule}},
	{
		pkg: "tool/mcp", layer: 3, own: []string{"api", "internal/cause", "internal/program", "tool", "tool/settings", "utp", "utp/schema"},
		third: []string{mcpModule},
	},
	{pkg: "internal/egress", layer: 2},
	{pkg: "tool/openapi", layer: 3, own: []string{"internal/egress", "tool", "tool/settings", "utp"}, third: []string{yamlModule}},
	{pkg: "agents/chat/llm", layer: 2},
	{pkg: "agents/chat", layer: 3, own: []string{"agents/chat/llm", "utp", "worker"}},
	{pkg: "agents/tidy", layer: 3, own: []string{"agents/tidy/files", "api", "internal/cause", "tool", "worker", "utp"}},

	{pkg: "internal/credentialfile", layer: 4, own: []string{"api", "internal/bus", "internal/cause", "internal/datadir", "utp"}},
	{pkg: "internal/projectfile", layer: 4, own: []string{"internal/cause", "internal/datadir", "tool/settings"}},
	{
		pkg: "internal/bridge/commonground", layer: 4, own: []string{"api", "client", "internal/bus", "internal/cause", "internal/rpc", "utp"},
		third: []string{"github.com/jackc/pgx/v5", "github.com/nats-io/nats.go"}, // a foreign installation's database and stream
	},
	{
		pkg: "internal/oauth", layer: 4, own: []string{"internal/cause", "internal/datadir", "internal/egress", "tool/mcp", "tool/settings"},
		third: []string{mcpModule, sysModule, "github.com/fsnotify/fsnotify", "golang.org/x/oauth2"},
	},
	{
		pkg: "internal/oidc", layer: 4, own: []string{"aaep/legible", "api", "internal/cause", "internal/hub/access"},
		third: []string{"github.com/coreos/go-oidc/v3", "github.com/go-jose/go-jose/v4", "golang.org/x/oauth2"}, // what they verify is what providers sign
	},
	{ // a provider for tests
		pkg: "internal/testkit/oidctest", layer: 4, third: []string{"github.com/go-jose/go-jose/v4", "github.com/zitadel/oidc/v3", "golang.org/x/oauth2"},
	},
	{
		pkg: "internal/toolfile", layer: 4,
		own:   []string{"agents/tidy", "internal/bus", "internal/cause", "internal/narrate", "tool", "tool/command", "tool/mcp", "tool/openapi", "tool/settings", "utp"},
		third: []string{yamlModule},
	},
	{
		pkg: "internal/hostfile", layer: 3, own: []string{"internal/cause", "tool/settings"},
		third: []string{yamlModule, "github.com/aymanbagabas/go-udiff", "github.com/pelletier/go-toml/v2", "github.com/tailscale/hujson"},
	},
	{
		pkg: "internal/hostsetup", layer: 5,
		own: []string{"internal/cause", "internal/datadir", "internal/gateway/hook", "internal/hostfile", "internal/toolfile", "tool/mcp", "tool/settings"},
	},
	{pkg: "internal/address", layer: 4, own: []string{"internal/cause", "internal/datadir", "internal/transport/web"}},

	{
		pkg: "aaep/conform/producer", layer: 5,
		own: []string{"aaep", "aaep/conform", "aaep/conform/report", "aaep/session", "aaep/subscribe", "internal/cause", "aaep/transport/grpc", "aaep/transport/pipe", "aaep/transport/socket", "aaep/transport/sse", "aaep/transport"},
	},
	{pkg: "aaep/conform/subscriber", layer: 5, own: []string{"aaep", "aaep/conform", "aaep/conform/report", "internal/cause", "aaep/transport/grpc", "aaep/transport/pipe", "aaep/transport/socket", "aaep/transport"}},
	{pkg: "aaep/conform/report", layer: 4, own: []string{"aaep"}, beside: map[string]string{"aaep/conform": "the verdicts are about its rules"}},
	{pkg: "aaep/conform", layer: 4, own: []string{"aaep", "aaep/manifest", "aaep/session"}},
	{
		pkg: "internal/storetest", layer: 4, own: []string{"internal/kernel/admin", "internal/kernel/standing", "internal/kernel/store", "internal/kernel/turn", "internal/kernel/consent", "api", "utp", "api/audit"},
		third: []string{rapidModule},
		both:  "it proves the stores, which hold both",
	},
	{
		pkg: "internal/kerneltest", layer: 4, own: []string{"internal/kernel", "internal/kernel/rulebook", "internal/kernel/store", "internal/kernel/turn", "api", "utp", "internal/narrate"},
	},
	{
		pkg: "internal/sim", layer: 4, own: []string{"internal/kernel", "internal/kernel/admin", "internal/kernel/delegation", "internal/kernel/rulebook", "internal/kernel/standing", "internal/kernel/store", "internal/kernel/store/memory", "internal/kernel/turn", "aaep", "aaep/session", "internal/kernel/consent", "api", "utp", "api/audit", "internal/narrate", "internal/rpc", "tool", "worker"},
		both: "it runs the whole loop",
	},

	{pkg: "internal/agentcheck", layer: 5, own: []string{"internal/fakemodel", "internal/gateway/hook", "utp"}},
	{pkg: "internal/fakemodel", layer: 4, third: []string{yamlModule}},
	{pkg: "internal/testkit/framing", layer: 4, own: []string{"aaep/transport"}},     // the table that every transport passes
	{pkg: "internal/testkit", layer: 4},                                              // for tests
	{pkg: "internal/testkit/aaepv1", layer: 4, third: []string{"google.golang.org"}}, // what a client of gRPC generates, for tests
	{
		pkg: "internal/testkit/scripted", layer: 4, own: []string{"aaep", "aaep/transport", "aaep/transport/grpc", "aaep/transport/pipe", "aaep/transport/socket"}, // a producer for tests of those who listen
	},
	{pkg: "internal/testkit/authserver", layer: 2, third: []string{mcpModule}},
	{
		pkg: "internal/testkit/agenthost", layer: 5, own: []string{"internal/fakemodel"}, third: []string{sysModule},
	},
	{pkg: "internal/testkit/authenticator", layer: 2, own: []string{"api"}}, // a passkey's device, for tests
	{pkg: "internal/hosts", layer: 4},                                       // all of it is in its tests
	{pkg: "internal/chaos", layer: 4},                                       // all of it is in its tests
	{pkg: "internal/bus/bustest", layer: 4, own: []string{"internal/bus"}},  // for tests of a bus that goes and comes back
	{
		pkg: "internal/testkit/ledgertest", layer: 4, own: []string{"internal/kernel/store", "internal/kernel/store/memory", "internal/kernel/store/sqlite"},
		beside: map[string]string{"internal/testkit": "a seed chooses the ledger as it chooses samples"},
	},
	{pkg: "internal/kernel/store/postgres/cluster", layer: 4, third: []string{"github.com/jackc/pgx/v5"}}, // a private server for tests and benchmarks

	{
		pkg: "internal/instance", layer: 5,
		own: []string{
			"aaep/pacing", "api", "internal/bus", "internal/cause", "internal/credentialfile", "internal/datadir", "internal/hub", "internal/hub/access",
			"internal/kernel", "internal/kernel/admin", "internal/kernel/registry", "internal/kernel/store", "internal/kernel/clock", "internal/kernel/store/ledgersql", "internal/kernel/store/postgres", "internal/kernel/store/sqlite",
			"internal/narrate", "internal/policyfile", "internal/projectfile", "internal/rpc", "tool", "tool/service", "tool/settings", "utp", "worker", "worker/agent",
		},
		third: []string{sysModule},
		both:  "it wires one process",
	},
	{pkg: "internal/config", layer: 3, own: []string{"internal/cause", "tool/settings"}, third: []string{"github.com/spf13"}},
	{pkg: "internal/operate", layer: 3, own: []string{"api", "api/audit", "internal/cause", "utp"}},
	{pkg: "internal/schemas", layer: 3, own: []string{"aaep", "internal/cause", "tool/settings"}},
	{pkg: "internal/auditkey", layer: 3, own: []string{"api/audit", "internal/cause", "internal/keyfile"}},
	{pkg: "internal/manifestkey", layer: 3, own: []string{"aaep/manifest", "internal/cause", "internal/keyfile"}},
	{
		pkg: "internal/keyfile", layer: 2,
		beside: map[string]string{"internal/cause": "why something failed is put into words once"},
	},
	{pkg: "internal/preference", layer: 3, own: []string{"aaep/legible", "api", "internal/cause", "internal/kernel/consent", "internal/kernel/turn"}, both: "its bounds are those of questions and of the undo window"},
	{
		pkg: "internal/wording", layer: 2, own: []string{"aaep/legible", "api", "api/audit", "utp"},
		beside: map[string]string{"internal/cause": "texts of others are put on one line by the same rules"},
		both:   "it tells people of definitions",
	},
	{pkg: "internal/usage", layer: 4, own: []string{"internal/cause", "internal/config", "tool/settings"}, third: []string{"github.com/spf13"}},
	{
		pkg: "internal/listing", layer: 4,
		own: []string{
			"aaep/legible", "api", "api/audit", "internal/cause", "internal/hub/access", "internal/narrate", "internal/wording", "utp",
		},
		both: "it tells people of calls and definitions",
	},
	{
		pkg: "internal/listening", layer: 4,
		own: []string{"aaep", "aaep/announce", "aaep/session", "aaep/subscribe", "aaep/transport", "client", "internal/cause", "internal/surface/terminal"},
	},
	{
		pkg: "internal/compat", layer: 3, own: []string{"aaep", "aaep/serve", "aaep/session", "aaep/transport", "aaep/transport/socket", "aaep/transport/stream"},
	},
	{
		pkg: "internal/validation", layer: 5,
		own: []string{"aaep", "aaep/capture", "aaep/conform", "aaep/legible", "aaep/session", "internal/cause"},
	},
	{
		pkg: "internal/recording", layer: 6,
		own: []string{"aaep/capture", "aaep/legible", "client", "internal/address", "internal/cause", "internal/transport/web", "internal/validation"},
	},
	{
		pkg: "internal/doctor", layer: 6,
		own: []string{
			"aaep/legible", "api", "client", "internal/address", "internal/cause", "internal/config", "internal/datadir", "internal/instance",
			"internal/kernel/clock", "internal/kernel/store/sqlite", "internal/oauth", "internal/operate", "internal/policyfile", "internal/toolfile",
		},
		third: []string{sysModule},
		both:  "it looks at the clock and the ledger of the kernel, and writes sizes as people read them",
	},
	{
		pkg: "internal/gateway/local", layer: 6,
		own: []string{"client", "internal/boottime", "internal/cause", "internal/datadir", "internal/hub/access", "internal/instance"},
	},
	{
		pkg: "internal/backup", layer: 6,
		own: []string{
			"internal/cause", "internal/datadir", "internal/instance", "internal/kernel/incarnation", "internal/kernel/store/sqlite",
		},
	},
	{
		pkg: "server", layer: 6,
		own: []string{
			"aaep", "aaep/manifest", "aaep/pacing", "api", "client", "internal/address", "internal/cause", "internal/datadir", "internal/fault", "internal/gateway/mcp", "internal/gateway/producer", "internal/hub/access", "internal/instance",
			"internal/kernel", "internal/kernel/roster", "internal/keyfile", "internal/manifestkey", "internal/oidc", "internal/passkey", "internal/peer", "aaep/transport/pipe", "internal/policyfile", "internal/presence", "internal/projectfile", "internal/rpc", "aaep/transport", "aaep/transport/grpc", "internal/transport/web", "tool", "tool/settings", "utp", "worker",
		},
		both: "it wires everything",
	},
	{pkg: "scripts/verdict", layer: 7}, // judges test runs for scripts/check; not part of the program
	{
		pkg: "internal/cli", layer: 7, own: []string{
			"aaep/legible", "aaep/subscribe", "agents/chat", "agents/chat/llm", "agents/tidy", "agents/tidy/files", "api", "client", "internal/build", "internal/cause", "internal/datadir", "internal/fault", "internal/instance",
			"internal/listing", "internal/oauth", "internal/operate", "internal/policyfile", "internal/rpc", "internal/surface/terminal", "internal/toolfile", "internal/usage", "server", "tool",
			"tool/mcp", "tool/settings", "utp",
		},
		third: []string{"github.com/spf13/cobra", sysModule, termModule},
		both:  "what commands of either side share",
	},
	{
		pkg: "internal/cli/operators", layer: 8, own: []string{
			"aaep/legible", "agents/tidy", "api", "api/audit", "client", "internal/auditkey", "internal/backup", "internal/bus", "internal/cause", "internal/cli",
			"internal/credentialfile", "internal/datadir", "internal/example", "internal/hub/access", "internal/instance", "internal/kernel/roster", "internal/listing", "internal/operate",
			"internal/projectfile", "internal/rosterfile", "internal/toolfile", "internal/usage", "internal/wording", "tool/mcp", "tool/settings", "utp",
		},
		third: []string{"github.com/spf13/cobra"},
		both:  "operators look at either side",
	},
	{
		pkg: "internal/cli/gateways", layer: 8, own: []string{
			"api", "client", "internal/agentcheck", "internal/bridge/commonground", "internal/build", "internal/bus", "internal/cause", "internal/cli", "internal/credentialfile",
			"internal/datadir", "internal/doctor", "internal/fault", "internal/gateway/hook", "internal/gateway/local", "internal/gateway/mcp", "internal/gateway/permission",
			"internal/hostfile", "internal/hostsetup", "internal/operate", "internal/oauth", "aaep/transport/pipe", "internal/toolfile", "internal/gateway/forward", "aaep",
			"aaep/subscribe", "aaep/transport", "internal/manifestkey", "internal/usage", "tool/mcp", "tool/settings", "utp",
		},
		third: []string{"github.com/spf13/cobra"},
		both:  "what it carries between a program and the server is AAEP, and what it manages are tools",
	},
	{
		pkg: "internal/cli/protocol", layer: 8, own: []string{
			"aaep", "aaep/capture", "aaep/conform", "aaep/conform/producer", "aaep/conform/report", "aaep/conform/subscriber", "aaep/manifest", "internal/address", "internal/cause", "internal/cli", "internal/compat", "internal/manifestkey", "internal/recording", "internal/schemas", "internal/usage", "internal/validation",
		},
		third: []string{"github.com/spf13/cobra"},
	},
	{
		pkg: "cmd/earshot", layer: 9, own: everyPackage(),
		third: []string{"github.com/spf13"},
		both:  "its commands are of either side",
	},
}

// kernelClient is the one way in which everybody asks the kernel. It keeps a context and waits, so it is not a pure
// machine, and it stands beside those that use it.
func kernelClient() map[string]string {
	return map[string]string{"internal/rpc": "asking the kernel, with its retries and paged values, exists once"}
}

// ledgerRows is what both databases have in common: the rows of the ledger, and the statements that write them.
func ledgerRows() map[string]string {
	return map[string]string{"internal/kernel/store/ledgersql": "what is said in both dialects of SQL exists once"}
}

// everyPackage is written as a function because a table cannot name itself; only the top layer uses it.
func everyPackage() []string { return []string{"*"} }

// impureImports are forbidden on the pure layers, each with what stands below it; the exceptions only parse text.
var (
	impureImports = []string{
		"context", "net", "os", "sync/atomic", "math/rand", "crypto/rand", "syscall", "database/sql", "log", "plugin", "runtime", "unsafe",
	}
	impureExcept = []string{"net/url", "net/netip"}
	// pureSync are what builds a table at its first use.
	pureSync    = []string{"OnceValue", "OnceValues"}
	impureClock = []string{"Now", "After", "AfterFunc", "Sleep", "Tick", "NewTicker", "NewTimer", "Since", "Until", "Local"}
)
