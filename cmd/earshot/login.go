package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
	"github.com/earshot-dev/earshot/internal/usage"
)

// codeTries is how many codes may be typed.
const codeTries = 3

func (m *Main) loginCommand() *cobra.Command {
	return m.RemoteCommand(&cobra.Command{
		Use:   "login",
		Short: "Log this terminal in, so that questions can be accepted here",
		Long: `Log this terminal in with a one-time code, so that ` + "`earshot reply`" + ` and ` + "`earshot run`" + ` accept
questions in it. The code, of 8 digits, is shown in the terminal where ` + "`earshot up`" + ` runs. A server
without a terminal shows none: then type a code of ` + "`earshot code`" + `.

The login is good for this terminal alone, until its shell ends, for 12 hours at most.
What an agent's host has started cannot log in, and cannot answer. To reject, to take
back and to stop, no login is needed.

A program that answers on purpose needs no login: make it a token of its own with
` + "`earshot token add NAME --role approver`" + `, and give it with --token-file.`,
		Args: usage.None,
	}, func(ctx context.Context, remote *client.Client, f cli.RemoteFlags, _ []string) error {
		a, err := remote.LoginTerminal(ctx, "")
		if err == nil && !a.Accepts {
			a, err = m.logIn(ctx, remote, a)
		}
		if err != nil {
			return err
		}
		if f.AsJSON {
			return m.WriteJSON(a)
		}
		if a.Expires.IsZero() {
			m.Printf("The terminal %s is logged in already.", cause.OneLine(a.Terminal))
			return nil
		}
		m.Printf("Logged in: the terminal %s, until %s. Questions can be accepted here.", cause.OneLine(a.Terminal), m.TimeText(a.Expires))
		return nil
	})
}

func (m *Main) logoutCommand() *cobra.Command {
	return m.RemoteCommand(&cobra.Command{
		Use:   "logout",
		Short: "End the login of this terminal",
		Args:  usage.None,
	}, func(ctx context.Context, remote *client.Client, f cli.RemoteFlags, _ []string) error {
		a, err := remote.LogoutTerminal(ctx)
		if err != nil {
			return err
		}
		if f.AsJSON {
			return m.WriteJSON(a)
		}
		m.Printf("Logged out: the terminal %s.", cause.OneLine(a.Terminal))
		return nil
	})
}

// logIn logs the terminal in with what the person types: the code that is shown elsewhere.
func (m *Main) logIn(ctx context.Context, remote *client.Client, a api.TerminalAnswer) (api.TerminalAnswer, error) {
	if !cli.IsTerminal(m.Stdin) {
		return a, cause.Misuse("the code is typed in a terminal, and standard input is none", "type `earshot login` without redirecting its input")
	}
	if a.Shown {
		m.Notef("A code for this terminal, %s, is shown in the terminal where `earshot up` runs.", cause.OneLine(a.Terminal))
	} else {
		m.Notef("This server runs without a terminal, so no code is shown. `earshot code` makes one.")
	}
	terminal.FlushTerminal(m.Stdin)
	in := bufio.NewReader(io.LimitReader(m.Stdin, codeTries*maxAnswerLine))
	for try := 1; ; try++ {
		m.Notef("Type the code, then press Enter.")
		line, err := in.ReadString('\n')
		if err != nil || strings.TrimSpace(line) == "" {
			return a, &cause.Error{Kind: cause.Declined, Message: "no code was typed; this terminal is not logged in", Hint: "type `earshot login` to begin again"}
		}
		answer, err := remote.LoginTerminal(ctx, strings.TrimSpace(line))
		switch {
		case err == nil || !errors.Is(err, client.ErrConflict):
			return answer, err
		case try == codeTries && !a.Shown:
			return answer, cause.Fail(err, "that code is not valid, or no longer", "`earshot code` makes another one; then type `earshot login` again")
		case try == codeTries:
			return answer, err
		}
		m.Notef("That code is not the right one.")
	}
}

// offerLogin offers to log this terminal in, before a session is attended here.
func (m *Main) offerLogin(ctx context.Context, remote *client.Client) error {
	me, err := remote.Identity(ctx)
	if err != nil {
		return cli.ServerFailure(err)
	}
	if me.Accepts {
		return nil
	}
	a, err := m.joinTerminal(ctx, remote)
	if err == nil && !a.Accepts {
		m.Notef("Questions cannot be accepted in this terminal yet. Log it in now, or press Enter to go on: then you can reject and stop here, and accept on the page.")
		_, err = m.logIn(ctx, remote, a)
	}
	if err != nil {
		m.Notef("This terminal is not logged in: %s. You can reject and stop here, and accept on the page.", cause.Of(err))
	}
	return nil
}

// joinTerminal logs this terminal in where nobody has to type for it: a server without a terminal of its own hands codes
// out.
func (m *Main) joinTerminal(ctx context.Context, remote *client.Client) (api.TerminalAnswer, error) {
	a, err := remote.LoginTerminal(ctx, "")
	if err != nil || a.Accepts || a.Shown {
		return a, err
	}
	code, err := remote.LoginCode(ctx)
	if err != nil {
		return a, err
	}
	a, err = remote.LoginTerminal(ctx, code.Code)
	if err == nil && a.Accepts {
		m.Notef("Logged in: the terminal %s, until %s. `earshot logout` ends it.", cause.OneLine(a.Terminal), m.TimeText(a.Expires))
	}
	return a, err
}

// notAttended is the error of an answer that nobody is known to have given, with the command to repeat.
func notAttended(err error, number int, answer string) error {
	e, is := errors.AsType[*client.Error](err)
	if !is || !errors.Is(err, client.ErrLogin) {
		return err
	}
	return &cause.Error{
		Kind: cause.Failed, Message: e.Message,
		Hint: fmt.Sprintf("`earshot login`, in a terminal of your own, and then `earshot reply %d %s`; or answer on the page; "+
			"a script gives --token-file, with a token of `earshot token add NAME --role approver`", number, cause.OneLine(answer)),
		Err: err,
	}
}
