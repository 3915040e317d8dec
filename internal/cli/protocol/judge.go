package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
	"github.com/earshot-dev/earshot/internal/cause"
)

// judgeFlags say who judges the vectors.
type judgeFlags struct {
	command string        // "" is the validator of this program
	wait    time.Duration // for each answer
	known   string        // a file
}

// outside is a judge that is another program, while it runs.
type outside struct {
	command *exec.Cmd
	cancel  context.CancelFunc
	input   io.Closer
	judge   conform.Judge
	wait    time.Duration
	late    bool  // it was ended, because it did not answer in time
	failed  error // why it cannot be asked any more
}

// startJudge starts the program by the shell. What it writes to standard error is shown.
func startJudge(ctx context.Context, f judgeFlags, stderr io.Writer) (*outside, error) {
	ctx, cancel := context.WithCancel(ctx)
	command := exec.CommandContext(ctx, "sh", "-c", f.command) //nolint:gosec // the person's own command
	command.Stderr, command.WaitDelay = stderr, time.Second
	input, err := command.StdinPipe()
	output, outErr := command.StdoutPipe()
	if err = errors.Join(err, outErr); err == nil {
		err = command.Start()
	}
	if err != nil {
		cancel()
		return nil, cause.Fail(err, "the judge could not be started", "it is run by sh: try the command of --judge in a terminal")
	}
	return &outside{command: command, cancel: cancel, input: input, judge: conform.Program(input, output), wait: f.wait}, nil
}

// ask asks the program, and ends it if it does not answer in time.
func (o *outside) ask(c conform.Case) ([][]aaep.Violation, error) {
	expired := make(chan struct{})
	timer := time.AfterFunc(o.wait, func() {
		o.cancel()
		close(expired)
	})
	found, err := o.judge(c)
	if !timer.Stop() {
		<-expired
		o.late = true
	}
	if errors.Is(err, conform.ErrProgram) && o.failed == nil {
		o.failed = err
	}
	return found, err
}

// end lets the program end by itself, at the end of its input, and says what went wrong with it.
func (o *outside) end() error {
	defer o.cancel()
	_ = o.input.Close() // it may have ended already
	timer := time.AfterFunc(o.wait, o.cancel)
	err := o.command.Wait()
	timer.Stop()
	switch {
	case o.late:
		return cause.Fail(o.failed, fmt.Sprintf("the judge did not answer within %v", o.wait), "give it more time with --wait, or answer each line before reading the next")
	case o.failed != nil && err != nil:
		return cause.Fail(errors.Join(o.failed, err), "the judge has failed", "earshot conform vectors --help shows what it is asked and has to answer")
	case o.failed != nil:
		return cause.Fail(o.failed, "the judge has failed", "earshot conform vectors --help shows what it is asked and has to answer")
	}
	return nil // every vector was answered; how it ended does not matter
}

// knownFailures reads a file of one JSON object: ids of vectors, each with what is missing.
func knownFailures(path string) (map[string]string, error) {
	known := map[string]string{}
	if path == "" {
		return known, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, &cause.Error{
			Kind: cause.Usage, Message: "the file of --known could not be read: " + cause.Of(err), Hint: "check the name and the rights", Err: err,
		}
	}
	if err := json.Unmarshal(raw, &known); err != nil {
		return nil, cause.Misuse("the file of --known is not one JSON object of ids and reasons: "+cause.Of(err), `for example {"ENV-18-hyphen": "ids may have hyphens here"}`)
	}
	return known, nil
}
