package protocol

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/compat"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) suiteAgentCommand() *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "agent",
		Short: "Serve an agent for AAEP's public conformance suite to judge",
		Long: `Serve an agent for AAEP's public conformance suite to judge: it does what the suite's
prompts ask for, and speaks the form of AAEP that the suite speaks, /events and /messages
without subscriptions. That form has no authentication, so it is served on this machine only.

The agent is built on the same library as a producer of yours would be, aaep/serve. The better
judge of that is earshot conform producer, which knows order, consent and resumption.

It ends with Ctrl-C.`,
		Example: `  earshot conform agent --listen 127.0.0.1:7412
  aaep-conformance producer --endpoint http://127.0.0.1:7412 --level 3`,
		Args: usage.None,
		RunE: func(c *cobra.Command, _ []string) error { return m.serveSuiteAgent(c.Context(), listen) },
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:7412", "listen at this address of this machine; port 0 takes a free one")
	return c
}

func (m *commands) serveSuiteAgent(ctx context.Context, listen string) error {
	host, _, err := address.Split("--listen", listen, "127.0.0.1:7412")
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return cause.Misuse("--listen is "+cause.OneLine(listen), "expected an address of this machine, such as 127.0.0.1:7412: anybody who can connect could answer")
	}
	ctx, interrupted := m.UntilInterrupted(ctx)
	defer interrupted()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return cause.Misuse("cannot listen at "+listen+": "+cause.Of(err), "name a free address with --listen")
	}
	mount, err := compat.New(compat.Options{
		Producer: aaep.Producer{AgentID: "suite-agent"}, Agent: compat.Scripted,
		Failed: func(_ string, err error) { m.Notef("A session could not be told: %s.", cause.Of(err)) },
	})
	if err != nil {
		_ = l.Close()
		return cause.Fail(err, "the agent could not be started", "")
	}
	defer mount.Close()
	server := &http.Server{Handler: mount, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	m.Notef("The agent is at http://%s. Ctrl-C ends it.", l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return cause.Fail(err, "the agent could not be served", "")
	}
	return nil
}
