package openapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// Answer is the response of a server.
type Answer struct {
	Status int    `json:"status"`
	Media  string `json:"media,omitzero"`
	// Body is a value if the response is JSON, else a text.
	Body any `json:"body,omitzero"`
	// Base64 reports that Body is binary, encoded as base64.
	Base64 bool `json:"base64,omitzero"`
	// BodyCut reports that Body is only the beginning.
	BodyCut  bool   `json:"body_cut,omitzero"`
	Location string `json:"location,omitzero"`
}

// answered reports a response.
func (s *sending) answered(callCtx context.Context, r *http.Response) (tool.Result, error) {
	out := Answer{Status: r.StatusCode, Location: s.clean(r.Header.Get("Location"))}
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // an invalid media type counts as none
	out.Media = s.clean(media)
	raw, broken := s.read(r)
	unread := s.decode(&out, r, raw)
	status, failure := s.op.judged(r)
	switch {
	case failure != nil:
		if quoted, is := out.Body.(string); is && quoted != "" {
			failure.Message += ": " + settings.Clip(strings.Join(strings.Fields(quoted), " "), 500)
		} else if value, is := out.Body.(jsontext.Value); is {
			failure.Message += ": " + settings.Clip(string(value), 500)
		}
	case broken != nil:
		out.Body = nil
		status, failure = s.halfRead(callCtx, broken, r.StatusCode)
	case unread != nil:
		status, failure = s.unreadable(unread, r.StatusCode)
	}
	if failure != nil {
		return tool.Result{Value: out, Status: status}, failure
	}
	return tool.Result{Value: out, Status: status}, nil
}

// clean returns a short text of the server without secrets.
func (s *sending) clean(text string) string {
	return settings.Clip(tool.Readable(string(s.redactor.Text([]byte(text)))), 2<<10)
}

// read reads slightly more of the body than the limit, so that an overrun is noticed.
func (s *sending) read(r *http.Response) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r.Body, int64(s.op.limits.Response)+int64(s.redactor.Margin())+1)) //nolint:wrapcheck // told in words
}

// decode puts the body into the answer, in the form that its media type requires. The error says why it cannot.
func (s *sending) decode(out *Answer, r *http.Response, raw []byte) *utp.ToolError {
	limit := int(s.op.limits.Response)
	tooLong := len(raw) > limit
	refused := func(code utp.Code, format string, args ...any) *utp.ToolError {
		return &utp.ToolError{Code: code, Message: fmt.Sprintf(format, args...), Source: utp.SourceTool}
	}
	coding := strings.ToLower(r.Header.Get("Content-Encoding"))
	switch {
	case len(raw) == 0:
		return nil
	case coding != "" && coding != "identity":
		return refused(utp.CodeResultNotSerializable, "the answer is packed (%s), which was not asked for, and is not unpacked", s.clean(coding))
	case isJSON(out.Media) || out.Media == "text/json":
		if tooLong {
			return refused(utp.CodeTooLarge, "the answer is JSON of more than %d bytes", limit)
		}
		if value := jsontext.Value(s.redactor.Text(raw)); tool.Keepable(value) == nil {
			out.Body = value
			return nil
		}
		fallthrough
	case isText(out.Media):
		text := s.redactor.Text(raw)
		if tooLong {
			text = s.redactor.Head(raw)
			text, out.BodyCut = text[:min(limit, len(text))], true
		}
		out.Body = tool.Readable(string(text))
		return nil
	case !s.op.binary:
		return refused(utp.CodeResultNotSerializable, "the answer is %s; the operation takes JSON and text, unless its settings say binary", strconv.Quote(out.Media))
	case tooLong:
		return refused(utp.CodeTooLarge, "the answer is more than %d bytes", limit)
	default:
		out.Body, out.Base64 = base64.StdEncoding.EncodeToString(s.redactor.Text(raw)), true
		return nil
	}
}

// isText reports whether the media type is readable text.
func isText(media string) bool {
	switch media {
	case "application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/x-ndjson", "application/jsonl", formMedia:
		return true
	default:
		return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+xml") || strings.HasSuffix(media, "+yaml") || isJSON(media)
	}
}

// judged interprets the status code.
func (op *operation) judged(r *http.Response) (utp.Status, *utp.ToolError) {
	code := r.StatusCode
	failure := &utp.ToolError{Source: utp.SourceTool, HTTPStatus: code, Message: fmt.Sprintf("the server said %d %s", code, http.StatusText(code))}
	status := utp.StatusFailed
	switch {
	case code >= 200 && code < 300, code == http.StatusNotModified, code == http.StatusSeeOther && op.class.Effectful():
		return utp.StatusSuccess, nil
	case code < 400:
		failure.Code, failure.Message = utp.CodeUpstreamUnavailable, failure.Message+", which is not followed"
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusProxyAuthRequired:
		failure.Code = utp.CodeAuthFailed
	case code == http.StatusNotFound, code == http.StatusGone:
		failure.Code = utp.CodeNotFound
	case code == http.StatusRequestTimeout, code == http.StatusGatewayTimeout:
		status, failure.Code, failure.Retryable = utp.StatusTimeout, utp.CodeToolTimeout, op.class.Repeatable()
	case code == http.StatusConflict, code == http.StatusPreconditionFailed:
		failure.Code = utp.CodeConflict
	case code == http.StatusRequestEntityTooLarge, code == http.StatusRequestURITooLong:
		failure.Code = utp.CodeTooLarge
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		failure.Code, failure.Retryable = utp.CodeUpstreamUnavailable, true
	case code == http.StatusNotImplemented:
		failure.Code = utp.CodeNotImplemented
	case code < 500:
		failure.Code = utp.CodeBadRequest
	case code == http.StatusBadGateway:
		failure.Code, failure.Retryable = utp.CodeUpstreamUnavailable, op.class.Repeatable()
	default:
		failure.Code = utp.CodeInternalError
	}
	if after, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && after >= 0 && after <= 86400 && failure.Retryable {
		failure.Detail = jsontext.Value(fmt.Sprintf(`{"retry_after_seconds":%d}`, after))
	}
	return status, failure
}

// halfRead reports a response that broke off. Its status code is known.
func (s *sending) halfRead(callCtx context.Context, broken error, code int) (utp.Status, *utp.ToolError) {
	tooLong := errors.Is(context.Cause(callCtx), errTooLong)
	failure := &utp.ToolError{Source: utp.SourceTool, HTTPStatus: code, Code: utp.CodeUpstreamUnavailable, Retryable: s.op.class.Repeatable()}
	failure.Message = s.clean(fmt.Sprintf("the server said %d, and its answer broke off: %s", code, s.reason(broken, tooLong)))
	switch {
	case s.op.class.Effectful():
		return utp.StatusPartial, failure
	case s.stopped.Err() != nil && !tooLong:
		failure.Code, failure.Retryable = utp.CodeStopped, false
		return utp.StatusCanceled, failure
	case tooLong:
		failure.Code = utp.CodeToolTimeout
		return utp.StatusTimeout, failure
	default:
		return utp.StatusFailed, failure
	}
}

// unreadable reports a response that cannot be represented. The request itself was carried out.
func (s *sending) unreadable(unread *utp.ToolError, code int) (utp.Status, *utp.ToolError) {
	unread.HTTPStatus = code
	if s.op.class.Effectful() {
		return utp.StatusPartial, unread
	}
	return utp.StatusFailed, unread
}
