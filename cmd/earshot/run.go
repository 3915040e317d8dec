package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/tool/settings"
)

// runFlags are the flags of `earshot run`.
type runFlags struct {
	sample, trash    bool
	request          string // the person's request to an external agent
	asJSON, noInput  bool
	inputRead        bool // standard input was read for something else
	resume, debug    bool
	answerWithin     time.Duration
	limited          bool // --answer-within was given
	dataGiven        bool // --data was given
	dataFlag, policy string
	server           cli.ServerFlags
	chat             chatFlags
}

const maxAnswer = 24 * time.Hour

func (m *Main) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run AGENT [DIR|TEXT|JSON]",
		Short: "Run one turn of an agent, narrated here, with consent asked here",
		Long: `Run one turn of an agent. Each step is told in a plain line. Before anything
irreversible the agent has to ask, and you answer by typing a word.

Agents:
  tidy DIR    find duplicate files under DIR and, with your consent, delete all but
              one of each set (with --trash: move them to the trash)
  chat TEXT   let a language model do what you ask for, with the tools that you allow
              (--root, --tools, ` + "`earshot mcp add`" + `): see --model and --endpoint
  NAME [JSON] an agent of your own, in a process of its own at a running server
              (see ` + "`earshot credential`" + `), with these arguments, {} if left out

When ` + "`earshot up`" + ` holds the data directory, or with --url, the turn runs there and is
told and answered here as well. End of input, --no-input and a terminal that goes away
then take away only this terminal: others can still answer.

Words about a question: accept, reject, more time, list, list all, why, stop, undo.
Enter repeats the question; neither Enter nor y accepts. Words about what is told:
repeat, recap, where, read (the answer), slower, faster, quiet, go on, help. Lines
piped to standard input answer like typed ones.

Exit codes: 0 done, also when there was nothing to do; 1 failed, outcome unknown, or
something accepted was not done; 2 usage; 3 declined, expired or nobody could answer;
129, 130 and 143 on signals, after the last event.`,
		Example: `  earshot run tidy ~/Pictures
  earshot run tidy --sample
  earshot run tidy --trash ~/Downloads
  earshot run chat --root ~/Pictures "Find the duplicates and remove them"
  earshot run chat --endpoint http://127.0.0.1:11434/v1 --model qwen3 "What is in my notes?"
  earshot run counter '{"text":"one two"}' --request "Count the words"
  earshot run --resume`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeRun,
		RunE: func(c *cobra.Command, args []string) error {
			f.limited, f.dataGiven = c.Flags().Changed("answer-within"), c.Flags().Changed("data")
			f.chat.modelGiven = f.chat.model.Named()
			if err := m.fillModel(c); err != nil {
				return err
			}
			return m.run(c.Context(), f, args)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.sample, "sample", false, "make a sample folder to play with, and use it")
	flags.BoolVar(&f.trash, "trash", false, "move files to the desktop's trash instead of deleting them")
	flags.StringVar(&f.request, "request", "", "what you ask an agent of your own for, in words")
	flags.BoolVar(&f.asJSON, "json", false, "write the session's events to standard output as JSON lines, and nothing else")
	flags.BoolVar(&f.noInput, "no-input", false, "ask nothing: what needs consent is not done")
	flags.DurationVar(&f.answerWithin, "answer-within", 0,
		"how long a question waits for an answer, 1s to 24h (default what the policy says, else the tool, else 5m)")
	flags.BoolVar(&f.resume, "resume", false, "go on with a session that did not end: the one named, or the only one")
	flags.StringVar(&f.dataFlag, "data", "", cli.DataUsage)
	flags.StringVar(&f.policy, "policy", "", "YAML file with the operator's rules")
	flags.StringVar(&f.server.URL, "url", "", "run the turn at the server with this address instead of here")
	flags.StringVar(&f.server.TokenFile, "token-file", "", "file with a token to use at the server, such as one of earshot token add; --url needs it")
	flags.StringArrayVar(&f.chat.roots, "root", nil, "folder that chat may work in; may be given several times")
	flags.StringArrayVar(&f.chat.tools, "tools", nil, "YAML file with tools for chat, as for earshot up; may be given several times")
	f.chat.model.Add(c)
	flags.BoolVar(&f.debug, "debug", false, "log what the parts do to standard error, without any content")
	cli.MarkPaths(c, []string{"data", "root"}, []string{"policy", "tools", "token-file"})
	return c
}

func completeRun(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return []string{
			cli.TidyName + "\tfind duplicate files and delete them with consent", cli.ChatName + "\tlet a language model do what you ask for",
		}, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// job is the work of a run: a new turn, or one to resume.
type job struct {
	root    string
	request api.EnqueueRequest
	chat    bool // its agent is chat
	roots   []string
	outside bool // its agent is a separate process, which only a server knows
	object  bool // and its arguments are one JSON object
	resume  bool
	session string
}

func (m *Main) run(ctx context.Context, f runFlags, args []string) error {
	j, err := m.job(f, args)
	if err != nil {
		return err
	}
	policy, err := policyfile.Open(f.policy)
	if err != nil {
		return err
	}
	if f.server.Named() {
		f.server.DataFlag = f.dataFlag
		return m.attachTo(ctx, f, j)
	}
	path, err := m.DataPath(f.dataFlag, f.dataGiven)
	if err != nil {
		return err
	}
	if j.outside && !cli.ServerAt(path) {
		return cause.Fail(nil, fmt.Sprintf("there is no agent %.64q here, and no server that could know it", j.request.Agent),
			settings.Meant("agents", j.request.Agent, []string{cli.TidyName})+"; for one of your own, start `earshot up --nats-listen 127.0.0.1:4222` first, or name a server with --url")
	}
	if j.chat && cli.ServerAt(path) {
		return m.attachHere(ctx, f, j, path, datadir.ErrLocked)
	}
	if f.server.TokenFile != "" && !cli.ServerAt(path) {
		return cause.Misuse("--token-file is for a server, and none works with the data in "+path, "start it with `earshot up`, name one with --url, or leave --token-file out")
	}
	if err := apart(j.root, path); err != nil {
		return err
	}
	p, err := m.chatParts(f, j, path)
	if err != nil {
		return err
	}
	h, err := m.OpenInstance(ctx, path, policy, f.debug, false, p.services...)
	if errors.Is(err, datadir.ErrLocked) {
		return m.attachHere(ctx, f, j, path, err)
	}
	if err != nil {
		return err
	}
	signals := m.NewSignals()
	defer signals.Stop() // after all cleanup: a further signal must not change how it ends
	defer h.Close()
	return m.runIn(ctx, h, f, j, p, path, signals)
}

// job parses the arguments.
func (m *Main) job(f runFlags, args []string) (job, error) {
	if f.limited && (f.answerWithin < time.Second || f.answerWithin > maxAnswer) {
		return job{}, cause.Misuse(fmt.Sprintf("--answer-within is %s; it can be 1s to 24h", f.answerWithin), "for example --answer-within 300s")
	}
	if f.resume {
		return resumed(f, args)
	}
	if len(args) == 0 {
		return job{}, cause.Misuse("no agent is named", "for example `earshot run tidy --sample`")
	}
	if args[0] == cli.ChatName {
		return m.chatJob(f, args[1:])
	}
	if given := f.chat.given(); given != "" {
		return job{}, cause.Misuse(given+" is for chat", "leave "+given+" out")
	}
	if args[0] != cli.TidyName {
		return externalAgentJob(f, args)
	}
	if f.request != "" {
		return job{}, cause.Misuse("--request is for agents of your own; what tidy is asked for follows from its arguments", "leave --request out")
	}
	root, err := m.folder(f, args[1:])
	if err != nil {
		return job{}, err
	}
	task := tidy.Args{Root: root, Trash: f.trash}
	raw, err := json.Marshal(task)
	if err != nil {
		return job{}, cause.Misuse("the folder's name is not UTF-8", "rename the folder, or name it by another path")
	}
	return job{root: root, request: api.EnqueueRequest{
		Agent: cli.TidyName, Owner: instance.LocalUser(), Args: raw, Request: task.Request(), Label: task.Label(), Answer: int(f.answerWithin / time.Second),
	}}, nil
}

// externalAgentJob parses the arguments of a run of an external agent. Only the server knows these agents.
func externalAgentJob(f runFlags, args []string) (job, error) {
	for flag, given := range map[string]bool{"--sample": f.sample, "--trash": f.trash} {
		if given {
			return job{}, cause.Misuse(flag+" is for tidy", "leave "+flag+" out")
		}
	}
	raw := jsontext.Value("{}")
	if len(args) > 1 {
		raw = jsontext.Value(args[1])
	}
	one := len(args) <= 2 && raw.Kind() == '{' && raw.IsValid()
	words := cmp.Or(f.request, "Run "+args[0]+".")
	return job{outside: true, object: one, request: api.EnqueueRequest{
		Agent: args[0], Owner: instance.LocalUser(), Args: raw, Request: words, Answer: int(f.answerWithin / time.Second),
	}}, nil
}

// resumed parses the arguments of a run that resumes a session as it was started.
func resumed(f runFlags, args []string) (job, error) {
	for flag, given := range map[string]bool{"--sample": f.sample, "--trash": f.trash, "--answer-within": f.limited} {
		if given {
			return job{}, cause.Misuse(flag+" does not go with --resume: a session goes on as it was begun", "leave "+flag+" out")
		}
	}
	if len(args) > 1 {
		return job{}, cause.Misuse("--resume takes one session at most", "for example `earshot run --resume`")
	}
	return job{resume: true, session: strings.Join(args, "")}, nil
}

// folder returns the folder to work in: the argument, or a sample.
func (m *Main) folder(f runFlags, args []string) (string, error) {
	switch {
	case f.sample && len(args) > 0:
		return "", cause.Misuse("both --sample and a folder are named", "name one of them")
	case f.sample:
		return m.makeSample()
	case len(args) == 0:
		return "", cause.Misuse("tidy works in one folder, and none is named", "for example `earshot run tidy ~/Pictures`, or --sample")
	case len(args) > 1:
		return "", cause.Misuse(fmt.Sprintf("tidy works in one folder; %d are named", len(args)), "run it once for each folder")
	}
	if f.server.Elsewhere() { // the folder is on that machine
		if !filepath.IsAbs(args[0]) {
			return "", cause.Misuse(fmt.Sprintf("the folder %q is not named from the root, and the server is another machine", args[0]),
				"name it as it is named there, such as /home/anna/Pictures")
		}
		return filepath.Clean(args[0]), nil
	}
	return resolve(args[0])
}

// resolve returns the folder's path for the tools, and checks that it can be read.
func resolve(folder string) (string, error) {
	if folder == "" { // an empty shell variable: it does not mean the current folder
		return "", cause.Misuse("the name of the folder is empty", "name a folder; the current one is called .")
	}
	root, err := files.Resolve(folder)
	if err != nil {
		return "", cli.FolderFailure(folder, err)
	}
	if err := listable(root, os.Open); err != nil {
		return "", cli.FolderFailure(folder, err)
	}
	return root, nil
}

// listable explains why a folder cannot be listed. It may have been removed since it was resolved, and even since it
// was opened.
func listable(root string, open func(string) (*os.File, error)) error {
	dir, err := open(root)
	if err == nil {
		_, err = dir.ReadDir(1)
		err = errors.Join(err, dir.Close())
	}
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return &files.Error{Code: files.ErrRootMissing, Path: root, Err: err}
	default:
		return &files.Error{Code: files.ErrRootUnreadable, Path: root, Err: err}
	}
}

// apart refuses to work in the program's own folder, with its ledger and journals.
func apart(root, data string) error {
	data, err := filepath.EvalSymlinks(data)
	if err != nil || root == "" {
		return nil //nolint:nilerr // What is not there holds no folder; whatever else is wrong shows when it is opened.
	}
	if rel, err := filepath.Rel(data, root); err == nil && filepath.IsLocal(rel) {
		return cause.Misuse(fmt.Sprintf("the folder %q belongs to the data directory", root), "name a folder of your own files")
	}
	return nil
}

func (m *Main) makeSample() (string, error) {
	dir, err := os.MkdirTemp(m.Getenv("TMPDIR"), "earshot-")
	if err != nil {
		return "", cause.Fail(err, "the sample folder cannot be made", "name a folder of your own instead")
	}
	dir = filepath.Join(dir, "sample", "photos") // the end of the path names the session
	if _, err := tidy.MakeSample(dir); err != nil {
		return "", cause.Fail(err, "the sample folder cannot be filled", "name a folder of your own instead")
	}
	root, err := resolve(dir)
	if err != nil {
		return "", err
	}
	m.Notef("Sample: %s", root)
	return root, nil
}

// runIn enqueues or resumes the turn, and attends it to its end.
func (m *Main) runIn(ctx context.Context, h *instance.Instance, f runFlags, j job, p parts, data string, signals *cli.Signals) error {
	if h.Restored {
		m.Notef("%s", instance.RestoredNote)
	}
	row, err := m.find(ctx, h, &j)
	if err != nil {
		return err
	}
	// Check everything before anything is recorded.
	if err := m.startParts(ctx, h, p, j, data); err != nil {
		return err
	}
	signals.Heed() // before there is a turn, a signal may just end the process
	turnID, session, err := begin(ctx, h, j, row)
	if err != nil {
		return err
	}
	signalled, failure := m.follow(ctx, f, signals.C, here(ctx, h, f, turnID, session))
	if failure != nil && signalled == nil {
		return failure
	}
	return m.verdict(ctx, h, turnID, signalled)
}

// find finds the session to resume and its folder.
func (m *Main) find(ctx context.Context, h *instance.Instance, j *job) (unfinished, error) {
	open, err := unfinishedIn(ctx, h)
	if err != nil {
		return unfinished{}, err
	}
	if !j.resume {
		if len(open) > 0 {
			m.Notef("Note: %s did not end; `earshot run --resume %s` goes on with it.", open[0].Session, open[0].Session)
		}
		return unfinished{}, nil
	}
	rows := make([]unfinished, 0, len(open))
	for _, row := range open {
		rows = append(rows, unfinished{session: row.Session, turn: row.Turn, agent: row.Agent, created: row.Created})
	}
	row, err := pick(rows, j.session, m.TimeText)
	if err != nil {
		return row, err
	}
	return row, j.rootsOf(ctx, h, row)
}

// begin starts the turn, or resumes the unfinished one.
func begin(ctx context.Context, h *instance.Instance, j job, row unfinished) (turnID, session string, err error) {
	if !j.resume {
		a, err := h.Hub.Enqueue(ctx, j.request)
		if err != nil {
			return "", "", h.Cause(cause.Fail(err, "the turn could not be recorded", "make room on the disk, then run it again"))
		}
		return a.Turn, a.Session, nil
	}
	if err := h.Kernel.Resume(ctx, row.turn); err != nil {
		return "", "", h.Cause(cause.Fail(err, "the session cannot be resumed", ""))
	}
	return row.turn, row.session, nil
}

// unfinished is a session that can be resumed.
type unfinished struct {
	session, turn, agent string
	created              time.Time
}

// pick finds the session that is to be resumed; without a name, the only one.
func pick(open []unfinished, session string, when func(time.Time) string) (unfinished, error) {
	switch {
	case len(open) == 0:
		return unfinished{}, cause.Misuse("there is nothing to resume: every session here has ended", "start a new one, for example `earshot run tidy --sample`")
	case session == "" && len(open) == 1:
		return open[0], nil
	case session == "":
		var list strings.Builder
		for _, row := range open {
			fmt.Fprintf(&list, " %s (%s, %s)", row.session, row.agent, when(row.created))
		}
		return unfinished{}, cause.Misuse("several sessions did not end:"+list.String(), "name one: `earshot run --resume SESSION`")
	}
	names := make([]string, 0, 2*len(open))
	for _, row := range open {
		if row.session == session || row.turn == session {
			return row, nil
		}
		names = append(names, row.session, row.turn)
	}
	return unfinished{}, cause.Fail(nil, fmt.Sprintf("there is no unfinished session %.128q here", session),
		settings.Suggest(session, names, "leave the name out to resume the only one, or to see which there are"))
}

func unfinishedIn(ctx context.Context, h *instance.Instance) ([]api.SessionRow, error) {
	open, err := h.Hub.Sessions(ctx, true)
	if err != nil {
		return nil, cause.Fail(err, "the ledger could not be read", "")
	}
	return open, nil
}

// rootsOf finds the folders of an earlier run. Resuming it allows them again.
func (j *job) rootsOf(ctx context.Context, h *instance.Instance, row unfinished) error {
	rec, err := h.Kernel.Turn(ctx, row.turn)
	if err != nil {
		return cause.Fail(err, "the session cannot be read", "")
	}
	if j.chat = row.agent == cli.ChatName; j.chat {
		j.roots, err = cli.ChatFolders(rec.Args)
		return err
	}
	var args tidy.Args
	if err := json.Unmarshal(rec.Args, &args); err != nil {
		return cause.Fail(err, "the session's arguments cannot be read", "")
	}
	j.root = args.Root
	_, err = resolve(args.Root)
	return err
}
