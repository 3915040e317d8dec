package main

import (
	"context"
	"net/netip"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *Main) codeCommand() *cobra.Command {
	return m.RemoteCommand(&cobra.Command{
		Use:   "code",
		Short: "Print the page's address and a new code that lets one browser in, once, within 10 minutes",
		Long: `Print the address of the page, and a new code that lets one browser in, once, within 10
minutes. Where ` + "`earshot up`" + ` runs in a terminal, the code is shown there instead, unless this
terminal is logged in: a program of yours could read it here. The code is 20 digits in groups of four; it goes to standard output, all else to
standard error. Wrong codes that somebody tries never make a right one void.

The name in the address is a secret of yours: anyone who knows it could be sent the page's
cookie by your browser.`,
		Args: usage.None,
	}, func(ctx context.Context, remote *client.Client, f cli.RemoteFlags, _ []string) error {
		code, err := remote.LoginCode(ctx)
		if err != nil {
			return err
		}
		if f.AsJSON {
			return m.WriteJSON(code)
		}
		m.showCode(code)
		return nil
	})
}

func (m *Main) pairCommand() *cobra.Command {
	return m.RemoteCommand(&cobra.Command{
		Use:   "pair",
		Short: "Log a phone in: print the page's address and a code of 8 digits to type or say",
		Long: `Print the address of the page, and a new code of 8 digits that lets one phone or other
device in, once, within 10 minutes. Open the address on it and type the code.

The code is short, so it is void after ten wrong ones that somebody tries; then pair
again, or take the long code of ` + "`earshot code`" + `, which nobody can make void. A new one replaces
the one before. Where ` + "`earshot up`" + ` runs in a terminal, the code is shown there instead, unless
this terminal is logged in.

A phone reaches a page that other machines can reach: one of ` + "`earshot up --https`" + `, or one
behind a proxy.`,
		Args: usage.None,
	}, func(ctx context.Context, remote *client.Client, f cli.RemoteFlags, _ []string) error {
		code, err := remote.ShortLoginCode(ctx)
		if err != nil {
			return err
		}
		if f.AsJSON {
			return m.WriteJSON(code)
		}
		m.showCode(code)
		if ofThisMachine(code.Page) {
			m.Notef("This page opens on this machine only, and not on a phone. `earshot up --https` opens it to others: see `earshot help up`.")
		}
		return nil
	})
}

// showCode says where a code is typed, and what it is.
func (m *Main) showCode(code api.LoginCode) {
	m.Notef("Page: %s", cause.OneLine(code.Page))
	if code.Code == "" {
		m.Notef("The code is shown in the terminal where `earshot up` runs: only who sees it gets in.")
		return
	}
	m.Notef("The code counts once, until %s; dashes and spaces do not matter.", m.TimeText(code.Expires))
	m.Printf("%s", code.Code)
}

// ofThisMachine reports whether no other machine can open an address.
func ofThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback() || u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost")
}
