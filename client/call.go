package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// maxAnswer limits the bytes of an answer; a list of sessions is the largest.
const maxAnswer = 64 << 20

// target is a route with its wildcards filled in, and a query.
type target struct{ method, path string }

func to(route string, values ...string) target {
	method, path := api.Address(route, values...)

	return target{method, path}
}

func (t target) with(query url.Values) target {
	if len(query) > 0 {
		t.path += "?" + query.Encode()
	}

	return t
}

// call makes one request. A nil in sends no body, a nil out ignores the answer's body.
func (c *Client) call(ctx context.Context, to target, in, out any) error {
	return c.callWith(ctx, nil, to, in, out)
}

// callWith is call with additional headers.
func (c *Client) callWith(ctx context.Context, header map[string]string, to target, in, out any) error {
	return c.callFor(ctx, callTime, header, to, in, out)
}

// callFor is callWith with a time limit.
func (c *Client) callFor(ctx context.Context, most time.Duration, header map[string]string, to target, in, out any) error {
	var body []byte

	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return &Error{Code: CodeUsage, Message: "the request cannot be written: " + cause.Of(err), Err: err}
		}
	}

	return c.callRaw(ctx, most, header, to, body, out)
}

// callRaw is callFor with a body that is written already.
func (c *Client) callRaw(ctx context.Context, most time.Duration, header map[string]string, to target, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()

	answer, err := c.send(ctx, to, body, header)
	if err != nil {
		return err
	}

	defer func() { _ = answer.Body.Close() }()

	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return unreachable(answer.Request.URL, err)
	}

	if answer.StatusCode >= http.StatusMultipleChoices {
		return c.worded(refusal(answer, raw))
	}

	if out == nil {
		return nil
	}

	if err := json.Unmarshal(raw, out); err != nil {
		return strange(answer, err)
	}

	return nil
}

// send makes a request and returns the answer with its body open.
func (c *Client) send(ctx context.Context, to target, body []byte, header map[string]string) (*http.Response, error) {
	info, err := c.serverInfo()
	if err != nil {
		return nil, err
	}

	request, err := http.NewRequestWithContext(ctx, to.method, info.URL+to.path, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Code: CodeUsage, Message: "the request cannot be made: " + cause.Of(err), Err: err}
	}

	request.Header.Set("Authorization", "Bearer "+info.Token)
	request.Header.Set("Accept", "application/json")

	c.sayWho(request)

	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}

	for name, value := range header {
		request.Header.Set(name, value)
	}

	answer, err := c.http.Do(request)
	if err != nil {
		return nil, unreachable(request.URL, err)
	}

	return answer, nil
}

// sayWho says for which agent's host this client asks, if for any.
func (c *Client) sayWho(request *http.Request) {
	switch {
	case c.o.AgentProcess > 0:
		request.Header.Set(api.GatewayHeader, strconv.Itoa(c.o.AgentProcess))
	case c.o.Gateway:
		request.Header.Set(api.GatewayHeader, api.GatewayOfHost)
	}
}

func unreachable(u *url.URL, err error) error {
	hint := "see that `earshot up` runs there; what was asked for may or may not have been done"
	if tls := cause.TLSHint(err); tls != "" {
		hint = tls
	}
	if cause.NoClientCertificate(err) {
		hint = "name a certificate that the server's operator has given you, and its key, with EARSHOT_CLIENT_CERT and EARSHOT_CLIENT_KEY"
	}
	if errors.Is(err, context.DeadlineExceeded) {
		hint = "see that `earshot up` runs there, and what it says, such as that its database is away; what was asked for may or may not have been done"
	}

	return &Error{Code: CodeUnreachable, Message: fmt.Sprintf("the server at %s cannot be reached: %s", u.Host, cause.Of(err)), Hint: hint, Err: err}
}

func strange(answer *http.Response, err error) error {
	return &Error{
		Code: CodeStrange, Message: fmt.Sprintf("%s answers %q to %s, which is not what an earshot server says", answer.Request.URL.Host, answer.Status, answer.Request.URL.Path),
		Hint: "check the address", Retry: answer.StatusCode >= http.StatusInternalServerError, Err: err,
	}
}

// worded adds how a question has ended, in this client's local time.
func (c *Client) worded(err error) error {
	if e, is := errors.AsType[*Error](err); is && e.Closed != nil {
		now := c.o.Now()
		e.Message, e.Hint = e.Closed.Text(now, now.Location()), ""
	}

	return err
}

// refusal decodes the server's error.
func refusal(answer *http.Response, raw []byte) error {
	var failure api.Failure
	if err := json.Unmarshal(raw, &failure); err != nil || failure.Error.Code == "" {
		return strange(answer, err)
	}

	body := failure.Error
	e := &Error{Code: Code(body.Code), Message: body.Message, Hint: body.Hint, Retry: body.Retry}
	e.passing = slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, answer.StatusCode)

	if c := body.Closed; c != nil {
		e.Closed = &announce.Closed{Question: c.Question, Resolution: aaep.Resolution(c.Resolution), By: c.By, Surface: c.Surface, At: c.At}
	}

	switch body.Code {
	case "done", "turn_ended", "stopped": // the ledger's codes for a request that came too late
		e.Code, e.Retry = CodeConflict, false
		e.Stopped, e.Ended = body.Code == "stopped", body.Code == "turn_ended"

		return e
	default:
	}

	switch answer.StatusCode { // a server's code does not hide the kind of failure
	case http.StatusUnauthorized:
		e.Code = CodeUnauthenticated
	case http.StatusForbidden:
		e.Code = CodeForbidden
		if body.Code == string(CodeLogin) {
			e.Err = ErrLogin
		}
		if body.Code == string(CodePasskeyRequired) {
			e.Err = ErrPasskeyRequired
		}
	case http.StatusNotFound:
		e.Code = CodeNotFound
	case http.StatusConflict:
		e.Code = CodeConflict
		if body.Code == string(CodeArgumentsNotSeen) {
			e.Err = ErrArgumentsNotSeen
		}
	}

	return e
}

// refused decodes the refusal of a stream.
func refused(answer *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxFile))
	if err != nil {
		return unreachable(answer.Request.URL, err)
	}

	return refusal(answer, raw)
}
