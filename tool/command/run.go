package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/cause"
	programs "github.com/earshot-dev/earshot/internal/program"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// Result is the output of a program.
type Result struct {
	ExitCode int `json:"exit_code"`
	// Output is a text, or a value if the program's output is JSON.
	Output any `json:"output,omitzero"`
	// OutputCut reports that Output is only the beginning of so many bytes.
	OutputCut   bool   `json:"output_cut,omitzero"`
	OutputBytes int64  `json:"output_bytes"`
	Errors      string `json:"errors,omitzero"` // the end of standard error
	ErrorsCut   bool   `json:"errors_cut,omitzero"`
	Signal      string `json:"signal,omitzero"` // that ended it
}

const (
	// callVariable contains the call's id, by which the program can recognise a repetition.
	callVariable = "EARSHOT_CALL"
	// programVariable contains the program's configured path; the process runs from a private copy.
	programVariable = "EARSHOT_PROGRAM"
)

// run is the tool.
func (p *program) run(ctx context.Context, c *tool.Call) (tool.Result, error) {
	j, r, err := p.prepare(c)
	if err != nil {
		return tool.Result{}, err
	}
	defer func() { _ = j.folder.Close() }()
	if ctx.Err() != nil {
		return tool.Result{Status: utp.StatusCanceled}, refuse(utp.CodeStopped, "it was stopped before it started; nothing was done")
	}
	if err := c.Ready(); err != nil {
		return tool.Result{}, err
	}
	e, err := j.run(ctx, r)
	if err != nil {
		return tool.Result{}, refuse(utp.CodeUpstreamUnavailable, "%s did not start: %s", p.Program, r.Text([]byte(notStarted(err))))
	}
	return p.result(e, r)
}

// prepare turns a call into a job. It reports invalid arguments before anything has begun.
func (p *program) prepare(c *tool.Call) (job, *settings.Redactor, error) {
	var args map[string]jsontext.Value
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return job{}, nil, refuse(utp.CodeBadRequest, "the arguments cannot be read: %v", err)
	}
	if name := p.strange(args); name != "" {
		return job{}, nil, refuse(utp.CodeBadRequest, "there is no argument %s", name)
	}
	argv, err := p.template.fill(args)
	if err != nil {
		return job{}, nil, refuse(utp.CodeBadRequest, "%v", err)
	}
	j := job{name: p.Program, argv: argv, limits: p.limits}
	if raw, given := args[p.stdin]; given && p.stdin != "" {
		if j.stdin, err = inputOf(raw); err != nil {
			return job{}, nil, refuse(utp.CodeBadRequest, "the argument %s %v", p.stdin, err)
		}
	}
	names := make([]string, 0, len(p.Secrets))
	for _, use := range p.Secrets {
		names = append(names, use.Name)
	}
	secrets, err := p.secrets.Open(p.o.LookupEnv, settings.Sorted(names))
	if err != nil {
		return job{}, nil, refuse(utp.CodeAuthFailed, "%v", err)
	}
	j.env = p.environment(c.ID, secrets)
	for _, use := range p.Secrets {
		if use.FD != 0 {
			j.secrets = append(j.secrets, secrets[use.Name])
		}
	}
	if j.folder, err = p.open(args); err != nil {
		return job{}, nil, err
	}
	if j.path, err = p.copies.Ready(p.bound); err != nil {
		_ = j.folder.Close()
		return job{}, nil, p.unready(err)
	}
	return j, settings.NewRedactor(secrets), nil
}

// unready says why a program cannot run.
func (p *program) unready(err error) error {
	const advice = "Nothing was run. Look at the program, start its service again, and review the tool: `earshot tools review "
	if errors.Is(err, programs.ErrChanged) {
		return refuse(utp.CodeChangedSinceReview, "%s changed since review. "+advice+p.Tool+"`", p.Program)
	}
	if wrong, is := errors.AsType[*programs.LocationError](err); is {
		return refuse(utp.CodeChangedSinceReview, "%s changed since review: %s. "+advice+p.Tool+"`", p.Program, wrong.Error())
	}
	return refuse(utp.CodeUpstreamUnavailable, "%s was not run: no private copy of it can be made: %s", p.Program, cause.Of(err))
}

// notStarted is the system's reason why a program did not start.
func notStarted(err error) string {
	switch {
	case errors.Is(err, syscall.ENOENT):
		return "the interpreter that its first line names is not there, or a library that it needs"
	case errors.Is(err, syscall.EACCES):
		return "the system lets no program run from the folder of its private copy; name another one with TMPDIR or --data"
	case errors.Is(err, syscall.ENOEXEC):
		return "it is not a program for this machine, and no script whose first line names an interpreter"
	case errors.Is(err, syscall.E2BIG):
		return "its arguments and variables together are longer than the system takes"
	default:
		return cause.Of(err)
	}
}

// strange returns an argument that the template does not use.
func (p *program) strange(args map[string]jsontext.Value) string {
	for name := range args {
		used := slices.ContainsFunc(p.template, func(a argument) bool { return a.Placeholder == name })
		if !used && name != p.stdin && p.Folder != "{"+name+"}" {
			return settings.Clip(name, 80)
		}
	}
	return ""
}

// inputOf is the program's input: a string as plain text, anything else as JSON.
func inputOf(raw jsontext.Value) ([]byte, error) {
	if raw.Kind() != jsontext.KindString {
		return slices.Clone(raw), nil
	}
	text, err := jsontext.AppendUnquote([]byte{}, raw)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return text, nil
}

// environment is the program's whole environment.
func (p *program) environment(call string, secrets map[string]string) []string {
	all := map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
	for _, name := range p.Inherit {
		if value, set := p.o.LookupEnv(name); set {
			all[name] = value
		}
	}
	maps.Copy(all, p.shared)
	maps.Copy(all, p.Environment)
	for _, use := range p.Secrets {
		if use.Env != "" {
			all[use.Env] = secrets[use.Name]
		}
	}
	all[callVariable], all[programVariable] = call, p.Program
	env := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env
}

// result turns a finished run into a result.
func (p *program) result(e ending, r *settings.Redactor) (tool.Result, error) {
	out := Result{ExitCode: e.code, OutputCut: e.stdout.cut(), OutputBytes: e.stdout.total}
	start := e.stdout.start(r)
	out.Output = tool.Readable(string(start))
	tail := e.stderr.end(r)
	out.Errors, out.ErrorsCut = tool.Readable(string(tail)), e.stderr.total > int64(len(tail))
	if e.signal != 0 {
		out.Signal = e.signal.String()
	}
	if e.why != nil {
		return p.ended(e, out)
	}
	status, failure := p.judged(e, out)
	if failure == nil && p.Output == outputJSON {
		out.Output, failure = p.parsed(start, out)
	}
	if failure != nil && status == utp.StatusSuccess {
		status = utp.StatusFailed
	}
	if failure != nil {
		return tool.Result{Value: out, Status: status}, failure
	}
	return tool.Result{Value: out, Status: status}, nil
}

// ended reports a run that we have ended. Its effect up to then is unknown.
func (p *program) ended(e ending, out Result) (tool.Result, error) {
	words := fmt.Sprintf("the command was ended after %s, because %v; what it had done by then is not known", e.duration.Round(1e6), e.why)
	failure := &utp.ToolError{Code: utp.CodeStopped, Message: words, Source: utp.SourceTool}
	status := utp.StatusCanceled
	switch {
	case e.why != errStopped && !p.Class.Repeatable(): //nolint:errorlint // it is ours, and never wrapped
		status, failure.Code = utp.StatusFailed, utp.CodeOutcomeUnknown
	case e.why == errTime: //nolint:errorlint // the same
		status, failure.Code, failure.Retryable = utp.StatusTimeout, utp.CodeToolTimeout, true
	}
	return tool.Result{Value: out, Status: status}, failure
}

// judged interprets the exit code.
func (p *program) judged(e ending, out Result) (utp.Status, *utp.ToolError) {
	means, mapped := p.Exit[e.code]
	if !mapped {
		means = exit{Status: string(utp.StatusFailed)}
		if e.code == 0 {
			means.Status = string(utp.StatusSuccess)
		}
	}
	status := utp.Status(means.Status)
	failure := &utp.ToolError{Code: means.Code, Message: means.Message, Source: utp.SourceTool, Retryable: means.Retryable && p.Class.Repeatable()}
	switch status {
	case utp.StatusSuccess:
		return status, nil
	case utp.StatusTimeout:
		failure.Code = orCode(failure.Code, utp.CodeToolTimeout)
	case statusUnknown:
		status, failure.Code = utp.StatusFailed, utp.CodeOutcomeUnknown
	default:
		failure.Code = orCode(failure.Code, utp.CodeInternalError)
	}
	if failure.Message == "" {
		failure.Message = fmt.Sprintf("the command ended with exit code %d", e.code)
		if out.Signal != "" {
			failure.Message = "the command was ended by a signal: " + out.Signal
		}
		if tail := strings.TrimSpace(out.Errors); tail != "" {
			failure.Message += ": " + lastOf(tail, 1<<10)
		}
	}
	if means.Untouched {
		return status, failure.Untouched()
	}
	return status, failure
}

// parsed decodes the output as JSON.
func (p *program) parsed(start []byte, out Result) (any, *utp.ToolError) {
	if out.OutputCut {
		return out.Output, &utp.ToolError{
			Code: utp.CodeTooLarge, Source: utp.SourceTool,
			Message: fmt.Sprintf("the command has ended well, and its output is %d bytes of JSON, over the limit of %d", out.OutputBytes, p.limits.Output),
		}
	}
	value := jsontext.Value(start)
	if err := tool.Keepable(value); err != nil {
		return out.Output, &utp.ToolError{
			Code: utp.CodeResultNotSerializable, Source: utp.SourceTool, Message: "the command has ended well, and its output is not the JSON that it should be: " + err.Error(),
		}
	}
	return value, nil
}

func orCode(code, otherwise utp.Code) utp.Code {
	if code == "" {
		return otherwise
	}
	return code
}

// lastOf returns the end of a text, in whole characters.
func lastOf(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-most:], "")
}
