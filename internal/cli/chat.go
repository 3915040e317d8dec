package cli

import (
	"cmp"
	"errors"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/agents/chat"
	"github.com/earshot-dev/earshot/agents/chat/llm"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/server"
	"github.com/earshot-dev/earshot/tool/settings"
)

// ChatName is the name of the agent that a language model decides for.
const ChatName = chat.Name

// ModelFlags say which language model decides, and how much it may use before the person is asked.
type ModelFlags struct {
	Name, Endpoint, API, Key string
	Window, MaxOutput        int
	Limits                   chat.Limits
}

// Add adds the flags to a command.
func (f *ModelFlags) Add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.Name, "model", "", "language model that chat asks, by the name that its server knows")
	flags.StringVar(&f.Endpoint, "endpoint", "",
		"address of the model's server, such as http://127.0.0.1:11434/v1 (default the one whose key is in ANTHROPIC_API_KEY or OPENAI_API_KEY)")
	flags.StringVar(&f.API, "model-api", "", "what that server speaks: anthropic (Messages) or openai (Chat Completions; default)")
	flags.StringVar(&f.Key, "model-key", "", "where the key for it is: env:NAME or file:/path")
	flags.IntVar(&f.Window, "model-window", 0, "how many tokens the model can read (default 200000 for anthropic, else 128000)")
	flags.IntVar(&f.MaxOutput, "model-output", 0, "how many tokens one answer of the model may have (default what its server says, 8192 for anthropic)")
	flags.IntVar(&f.Limits.Steps, "max-steps", 0, "after so many answers of the model you are asked whether it goes on (default 30)")
	flags.IntVar(&f.Limits.Tokens, "max-tokens", 0, "after so many tokens you are asked whether it goes on (default 1000000)")
	flags.Float64Var(&f.Limits.Cost, "max-cost", 0, "after such a cost you are asked whether it goes on; needs --price-input and --price-output")
	flags.Float64Var(&f.Limits.InputPrice, "price-input", 0, "price of a million tokens that the model reads")
	flags.Float64Var(&f.Limits.OutputPrice, "price-output", 0, "price of a million tokens that the model writes")
}

// Named reports whether a model or its server is named.
func (f ModelFlags) Named() bool { return f.Name != "" || f.Endpoint != "" }

const (
	anthropicKey, openaiKey = "ANTHROPIC_API_KEY", "OPENAI_API_KEY"
	anthropicURL, openaiURL = "https://api.anthropic.com", "https://api.openai.com"

	anthropicWindow = 200_000
)

const modelHint = "name one: --model NAME, with a key in " + anthropicKey + " or " + openaiKey +
	"; or --endpoint http://127.0.0.1:11434/v1 --model NAME for a server of your own"

// serverHint is for who has named a model, and no server.
const serverHint = "put its key into " + anthropicKey + " or " + openaiKey + "; or name a server of your own: --endpoint http://127.0.0.1:11434/v1"

// ChatAgent returns the agent chat with the model that the flags and the environment name.
func (m *Program) ChatAgent(f ModelFlags, folders []string) (server.Agent, error) {
	f, err := m.completeModel(f)
	if err != nil {
		return server.Agent{}, err
	}
	key, err := m.modelKey(f.Key)
	if err != nil {
		return server.Agent{}, err
	}
	client, err := llm.NewClient(llm.Options{Wire: llm.Wire(f.API), Endpoint: f.Endpoint, Key: key})
	if err != nil {
		return server.Agent{}, cause.Misuse(err.Error(), "for example --endpoint http://127.0.0.1:11434/v1, or leave it out")
	}
	agent := chat.Agent(chat.Options{
		Model: client, Name: f.Name, Folders: folders, Limits: f.Limits, Window: f.Window, MaxOutput: f.MaxOutput,
	})
	start := &server.Start{About: "A language model does what you ask for, with the tools that the rules leave to it.", Folders: folders, Args: startChat}
	return server.Agent{Agent: agent, Check: checkChat, Start: start}, nil
}

// DescribeModel says which model the flags and the environment name.
func (m *Program) DescribeModel(f ModelFlags) string {
	f, err := m.completeModel(f)
	if err != nil {
		return "no language model is configured."
	}
	return f.Name + " at " + f.Endpoint + "."
}

// completeModel fills in what the environment says.
func (m *Program) completeModel(f ModelFlags) (ModelFlags, error) {
	if f.Endpoint == "" {
		f = m.knownServer(f)
	}
	switch {
	case f.Endpoint == "" && f.Name != "":
		return f, cause.Misuse("no server is known for the model "+cause.OneLine(f.Name), serverHint)
	case f.Endpoint == "":
		return f, cause.Misuse("no language model is configured", modelHint)
	case f.Name == "":
		return f, cause.Misuse("no model is named for "+f.Endpoint, "add --model NAME, or set EARSHOT_MODEL")
	case f.Limits.Cost > 0 && f.Limits.InputPrice <= 0 && f.Limits.OutputPrice <= 0:
		return f, cause.Misuse("--max-cost needs to know what the model costs", "add --price-input and --price-output, for a million tokens")
	}
	at, err := url.Parse(f.Endpoint)
	if err == nil && f.API == "" {
		f.API = string(llm.OpenAI)
		if at.Hostname() == "api.anthropic.com" || strings.HasSuffix(at.Path, "/messages") {
			f.API = string(llm.Anthropic)
		}
	}
	if err == nil && f.Key == "" { // a key goes to the server that it is for, and to no other
		switch at.Hostname() {
		case "api.anthropic.com":
			f.Key = "env:" + anthropicKey
		case "api.openai.com":
			f.Key = "env:" + openaiKey
		}
	}
	if f.Window == 0 && f.API == string(llm.Anthropic) {
		f.Window = anthropicWindow
	}
	return f, nil
}

// knownServer chooses the server whose key is in the environment; of both, that of the model's name.
func (m *Program) knownServer(f ModelFlags) ModelFlags {
	one, other := m.Getenv(anthropicKey) != "", m.Getenv(openaiKey) != ""
	claude := f.API == string(llm.Anthropic) || f.API == "" && one && (!other || strings.HasPrefix(f.Name, "claude"))
	switch {
	case claude && (one || f.Key != ""):
		f.Endpoint, f.API = anthropicURL, string(llm.Anthropic)
	case !claude && (other || f.Key != "" && f.API == string(llm.OpenAI)):
		f.Endpoint, f.API = openaiURL, string(llm.OpenAI)
	}
	return f
}

// modelKey returns what reads the key, and reads it once. The reference itself is never repeated: it may be a key by
// mistake.
func (m *Program) modelKey(reference string) (func() (string, error), error) {
	if reference == "" {
		return func() (string, error) { return "", nil }, nil
	}
	var secret settings.Secret
	kind, where, _ := strings.Cut(reference, ":")
	switch {
	case kind == "env" && where != "":
		secret.Env = where
	case kind == "file" && strings.HasPrefix(where, "/"):
		secret.File = where
	default:
		return nil, cause.Misuse("--model-key does not say where the key is", "write env:NAME for a variable, or file:/path for a file; never the key itself")
	}
	const name = "of the model"
	read := func() (string, error) {
		values, err := settings.Secrets{name: secret}.Open(m.LookupEnv, []string{name})
		return values[name], err
	}
	if _, err := read(); err != nil {
		return nil, cause.Misuse("the key of the model cannot be read: "+cause.Of(err), "set that variable, or name another place with --model-key")
	}
	return read, nil
}

// ChatArgs makes the arguments of a turn.
func ChatArgs(text string, folders []string) (jsontext.Value, error) {
	raw, err := json.Marshal(chat.Args{Text: text, Folders: folders})
	if err != nil {
		return nil, cause.Misuse("what is asked for is not UTF-8", "type it again")
	}
	return raw, nil
}

// startChat makes the arguments of a turn that is started from the page.
func startChat(request, folder string) (jsontext.Value, error) {
	if request == "" {
		return nil, cause.Misuse("chat needs a request", "say in your own words what it should do").About("request")
	}
	if folder == "" {
		return ChatArgs(request, nil)
	}
	return ChatArgs(request, []string{folder})
}

// checkChat looks at a turn before it is recorded.
func checkChat(t *api.TurnStart) error {
	args, err := chat.ParseArgs(t.Args)
	if err != nil {
		return cause.Misuse("the arguments of chat cannot be read: "+cause.Of(err), `send {"text":"what you ask for"}`)
	}
	t.Request = cmp.Or(t.Request, args.Text)
	return nil
}

// ChatFolders returns the folders of a turn that was begun before.
func ChatFolders(raw jsontext.Value) ([]string, error) {
	args, err := chat.ParseArgs(raw)
	if err != nil {
		return nil, cause.Fail(err, "the session's arguments cannot be read", "")
	}
	return args.Folders, nil
}

// ChatFailure is [ServerFailure] for a turn of chat, which a server may not have.
func ChatFailure(err error) error {
	err = ServerFailure(err)
	if refused, is := errors.AsType[*cause.Error](err); is && strings.HasPrefix(refused.Message, "there is no agent") {
		refused.Message, refused.Hint = "the server has no agent chat", "start `earshot up` with --model NAME; see `earshot up --help`"
	}
	return err
}
