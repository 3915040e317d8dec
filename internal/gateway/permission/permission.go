package permission

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/utp"
)

// Agent is an agent at Earshot. [Client] implements it.
type Agent interface {
	// Tools returns those that Earshot offers to the agent.
	Tools(ctx context.Context) ([]api.AgentTool, error)
	Open(ctx context.Context, q api.AgentOpen) (Session, error)
}

// Session is an agent's session. Its methods are those of [client.AgentSession].
type Session interface {
	RequestPermission(ctx context.Context, q api.AgentPermission, wait time.Duration) (api.AgentCall, error)
	Wait(ctx context.Context, call string, wait time.Duration) (api.AgentCall, error)
	Received(ctx context.Context, call string) error
	Report(ctx context.Context, q api.AgentReport) error
	End(ctx context.Context, q api.AgentEnd) error
}

// Client is an agent over HTTP.
type Client struct{ *client.Agent }

// Open implements [Agent].
func (c Client) Open(ctx context.Context, q api.AgentOpen) (Session, error) {
	s, err := c.Agent.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.WithdrawOnLeave(), nil
}

// Asker handles one event of a host. Everything except Modes is required.
type Asker struct {
	Host hook.Host
	// Dial connects to Earshot as the host's agent. If start is set, it starts Earshot if necessary.
	Dial func(ctx context.Context, start bool) (Agent, error)
	// Key identifies the host's session if the host itself does not.
	Key string
	// Folder is the session's folder, which gives the session its name.
	Folder string
	// Answer is how long a question stays open.
	Answer time.Duration
	// Once is the id of this use if the host sends none, so that a repeated request is not another one.
	Once string
	// Gateway are the tools that Earshot's gateway has besides those that Earshot offers.
	Gateway []string
	// Modes stores the hosts' permission modes; nil stores nothing.
	Modes Modes
}

const (
	// firstLook is how long the first request waits: by then a rule of the policy has decided, or it is known that a
	// question is open.
	firstLook = 2 * time.Second
	// pause is the delay before a retry after the server was lost.
	pause = 500 * time.Millisecond
	// maxSessions limits the successive Earshot sessions for one session of a host.
	maxSessions = 200
)

// Ask asks a person whether the host may use the tool of the event, and waits for the answer as long as ctx lives.
func (a Asker) Ask(ctx context.Context, e hook.Event) hook.Answer {
	if !a.Host.Asks(e.Tool) {
		return hook.Answer{Verdict: hook.NoDecision}
	}
	agent, err := a.Dial(ctx, true)
	if err != nil {
		return Refused(ctx, err)
	}
	a.announceMode(ctx, agent, e)
	if a.gated(ctx, agent, e.Tool) {
		return hook.Answer{Verdict: hook.NoDecision}
	}
	q := api.AgentPermission{Tool: e.Tool, Input: e.Input, Comment: a.says(e), HostCall: e.Call}
	if q.HostCall == "" {
		q.HostCall = a.Once
	}
	var answer hook.Answer
	err = a.inSession(ctx, agent, e, func(s Session) (err error) {
		answer, err = Request(ctx, s, q)
		return err
	})
	if err != nil {
		return Refused(ctx, err)
	}
	return answer
}

// Request requests a permission in a session and waits for the answer as long as ctx lives, also while the server is
// away. After an error, the answer denies.
func Request(ctx context.Context, s Session, q api.AgentPermission) (hook.Answer, error) {
	c, err := until(ctx, s, q)
	if err != nil {
		return hook.Answer{}, err
	}
	return answerOf(ctx, s, c)
}

// gated reports whether the tool is one that Earshot itself offers to the host, and so goes through the gate anyway. A
// name alone is not enough: another server may be called earshot.
func (a Asker) gated(ctx context.Context, agent Agent, tool string) bool {
	name, is := a.Host.OfGateway(tool)
	if !is {
		return false
	}
	if slices.Contains(a.Gateway, name) {
		return true
	}
	tools, err := agent.Tools(ctx)
	return err == nil && slices.ContainsFunc(tools, func(t api.AgentTool) bool { return t.ModelName == name })
}

// says names the folder in which the host would use the tool, if it is not the session's.
func (a Asker) says(e hook.Event) string {
	if e.Folder == "" || e.Folder == a.Folder {
		return ""
	}
	return "In the folder " + e.Folder + "."
}

// inSession calls do in the session at Earshot for the host's session, which is opened if necessary.
func (a Asker) inSession(ctx context.Context, agent Agent, e hook.Event, do func(Session) error) error {
	for n := range maxSessions {
		q := api.AgentOpen{Label: base(a.Folder), Answer: int(a.Answer / time.Second), Idle: api.MaxIdle, Key: a.keyFor(e, n)}
		var session Session
		err := retry(ctx, func() (err error) {
			session, err = agent.Open(ctx, q)
			return err
		})
		if err == nil {
			err = do(session)
		}
		if !hasEnded(err) {
			return err
		}
	}
	return fmt.Errorf("Earshot has closed %d sessions of this session of %s; start a new one", maxSessions, a.Host.Title) //nolint:staticcheck // a sentence
}

// keyFor returns the idempotency key of the n-th session for a session of the host. It contains everything that the
// session is opened with: with another folder or time to answer, the same key would be refused.
func (a Asker) keyFor(e hook.Event, n int) string {
	session := e.Session
	if session == "" {
		session = "process " + a.Key
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "earshot-hook-1\n%s\n%q\n%q\n%d\n%d", a.Host.Name, session, a.Folder, a.Answer, n))
	return "hook-" + hex.EncodeToString(sum[:])
}

// until repeats the request until there is a result. While the server is away it retries as long as ctx lives: the
// question remains stored there. A question that was withdrawn because nobody seemed to wait for it is asked again.
func until(ctx context.Context, s Session, q api.AgentPermission) (api.AgentCall, error) {
	var known api.AgentCall
	expected := false // the server knew that we wait
	dropped := ""     // the call that was asked for again; a session that has ended gives the same one for ever
	for {
		err := retry(ctx, func() error {
			var c api.AgentCall
			var err error
			if known.ID == "" {
				c, err = s.RequestPermission(ctx, q, firstLook)
			} else {
				c, err = s.Wait(ctx, known.ID, client.MaxWait)
			}
			if err == nil {
				known = c
			}
			expected = expected && err == nil || err == nil && !c.Ended()
			return err
		})
		switch {
		case err != nil || !known.Ended():
		case known.ID == dropped:
			return known, nil
		case known.Code == utp.CodeConsentStale, known.Code == utp.CodeConsentWithdrawn && !expected:
			// An accept came, or the question ended, while the server did not know that we wait: it is asked again.
			err = retry(ctx, func() error { return s.Received(ctx, known.ID) })
			dropped = known.ID
			known = api.AgentCall{}
		default:
			return known, nil
		}
		if err != nil {
			return known, err
		}
	}
}

// retry repeats do while the server is away.
func retry(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || !lost(err) || ctx.Err() != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// answerOf converts the result of a request to an answer. An accept counts only once the server has recorded its
// receipt, so that nobody else gets it.
func answerOf(ctx context.Context, s Session, c api.AgentCall) (hook.Answer, error) {
	switch {
	case c.Status == utp.StatusPartial && c.Code == "":
		return hook.Answer{Verdict: hook.NoDecision}, nil
	case c.Status != utp.StatusSuccess || c.Code != "":
		return hook.Answer{Reason: c.Message}, nil
	}
	err := retry(ctx, func() error { return s.Received(ctx, c.ID) })
	if err != nil {
		return hook.Answer{}, fmt.Errorf("a person said yes, and Earshot could not note that it was passed on: %w", err)
	}
	return hook.Answer{Verdict: hook.Allow, Reason: "A person said yes at Earshot."}, nil
}

// Refused returns the answer after a failure.
func Refused(ctx context.Context, err error) hook.Answer {
	switch {
	case client.Stopped(err):
		return hook.Answer{Reason: "A person has stopped this session at Earshot. Nothing more is done in it. Stop your work and say so."}
	case ctx.Err() != nil:
		return hook.Answer{Reason: NoAnswer}
	}
	return hook.Answer{Reason: "Not done, because Earshot could not ask anybody: " + strings.TrimRight(err.Error(), ".") + "."}
}

// NoAnswer is the reason of a denial if nobody has answered in time.
const NoAnswer = "Nobody answered at Earshot in time, so it was not done. Do not try to get the same done in another way; ask the person."

// hasEnded reports whether the session has ended without anybody stopping it.
func hasEnded(err error) bool {
	var e *client.Error
	return errors.As(err, &e) && e.Ended && !e.Stopped
}

// lost reports whether the server could not be reached, so that a retry makes sense.
func lost(err error) bool {
	var e *client.Error
	return errors.As(err, &e) && (e.Retry || e.Code == client.CodeUnreachable)
}

// base is the last part of a folder's path.
func base(folder string) string {
	folder = strings.TrimRight(folder, `/\`)
	return folder[strings.LastIndexAny(folder, `/\`)+1:]
}
