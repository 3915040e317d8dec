package openapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// refuse is an error of a call that has sent nothing.
func refuse(code utp.Code, format string, args ...any) error {
	return (&utp.ToolError{Code: code, Message: fmt.Sprintf(format, args...), Source: utp.SourceTool}).Untouched()
}

// request makes the request of a call. What is wrong with its arguments shows here,
// before anything was sent.
func (op *operation) request(ctx context.Context, c *tool.Call) (*http.Request, *settings.Redactor, error) {
	var args map[string]jsontext.Value
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil, nil, refuse(utp.CodeBadRequest, "the arguments cannot be read: %v", err)
	}
	secrets, err := op.shared.secrets.Open(op.shared.o.LookupEnv, op.shared.uses)
	if err != nil {
		return nil, nil, refuse(utp.CodeAuthFailed, "%v", err)
	}
	redactor := settings.NewRedactor(op.shared.composed(secrets))
	payload, err := op.payload(args)
	if err != nil {
		return nil, nil, refuse(utp.CodeBadRequest, "the argument %s %v", op.body.Arg, err)
	}
	if int64(len(payload)) > int64(op.limits.Request) {
		return nil, nil, refuse(utp.CodeTooLarge, "the body is %d bytes, over the limit of %d", len(payload), op.limits.Request)
	}
	address, err := op.address(args, secrets)
	if err != nil {
		return nil, nil, refuse(utp.CodeBadRequest, "%v", err)
	}
	var body io.Reader
	if payload != nil {
		body = bytes.NewReader(payload)
	}
	r, err := http.NewRequestWithContext(ctx, op.method, address.String(), body)
	if err != nil {
		return nil, nil, refuse(utp.CodeBadRequest, "the request cannot be made")
	}
	if payload != nil {
		r.Header.Set("Content-Type", op.body.Media)
	}
	if err := op.fillHeader(r, args, secrets, c.ID); err != nil {
		return nil, nil, refuse(utp.CodeBadRequest, "%v", err)
	}
	return r, redactor, op.unknown(args)
}

// composed are the secrets, and what credentials are made of them.
func (s *shared) composed(secrets map[string]string) map[string]string {
	all := maps.Clone(secrets)
	for _, c := range s.credentials {
		if name := c.Header + c.Query; all[name] == "" && secretPlaceholder().FindString(c.Value) != c.Value {
			all[name] = c.fill(secrets)
		}
	}
	return all
}

// fill puts secrets in their places.
func (c credential) fill(secrets map[string]string) string {
	return secretPlaceholder().ReplaceAllStringFunc(c.Value, func(placeholder string) string { return secrets[placeholder[1:len(placeholder)-1]] })
}

// unknown refuses an argument that no place takes.
func (op *operation) unknown(args map[string]jsontext.Value) error {
	for name := range args {
		used := slices.ContainsFunc(op.parameters, func(p parameter) bool { return p.Arg == name })
		if !used && (op.body == nil || op.body.Arg != name) {
			return refuse(utp.CodeBadRequest, "there is no argument %s", settings.Clip(name, 80))
		}
	}
	return nil
}

// address is where the request goes. Nothing that was put in has changed its origin.
func (op *operation) address(args map[string]jsontext.Value, secrets map[string]string) (*url.URL, error) {
	path, err := op.fillPath(args)
	if err != nil {
		return nil, err
	}
	query, err := op.fillQuery(args, secrets)
	if err != nil {
		return nil, err
	}
	text := op.base.Scheme + "://" + op.base.Host + path
	if query != "" {
		text += "?" + query
	}
	if len(text) > maxAddress {
		return nil, fmt.Errorf("the address is %d bytes, over the limit of %d", len(text), maxAddress)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the address cannot be made")
	}
	if u.Scheme != op.base.Scheme || u.Host != op.base.Host || u.User != nil || u.Fragment != "" || u.EscapedPath() != path {
		return nil, errors.New("the arguments would change where the request goes")
	}
	return u, nil
}

func (op *operation) fillPath(args map[string]jsontext.Value) (string, error) {
	var failure error
	path := pathPlaceholder().ReplaceAllStringFunc(op.path, func(placeholder string) string {
		i := slices.IndexFunc(op.parameters, func(p parameter) bool { return p.In == inPath && p.Name == placeholder[1:len(placeholder)-1] })
		p := op.parameters[i] // checkPath has found it
		value, err := p.segment(args[p.Arg])
		if err != nil && failure == nil {
			failure = fmt.Errorf("the argument %s %w", p.Arg, err)
		}
		return value
	})
	if failure != nil {
		return "", failure
	}
	if climbs(path) { // two values side by side could make what neither is
		return "", errors.New("the arguments would lead out of their place in the path")
	}
	return path, nil
}

func (op *operation) fillQuery(args map[string]jsontext.Value, secrets map[string]string) (string, error) {
	var parts []string
	if op.base.RawQuery != "" {
		parts = append(parts, op.base.RawQuery)
	}
	for _, p := range op.parameters {
		value, given := args[p.Arg]
		if p.In != inQuery || !given || value.Kind() == jsontext.KindNull {
			continue
		}
		more, err := p.query(value)
		if err == nil && value.Kind() == jsontext.KindBeginObject && p.Style == "form" && p.Explode {
			err = op.checkMembers(p, more)
		}
		if err != nil {
			return "", fmt.Errorf("the argument %s %w", p.Arg, err)
		}
		parts = append(parts, more...)
	}
	for _, c := range op.shared.credentials {
		if c.Query != "" {
			parts = append(parts, url.QueryEscape(c.Query)+"="+url.QueryEscape(c.fill(secrets)))
		}
	}
	return strings.Join(parts, "&"), nil
}

// checkMembers keeps an object whose members are parameters of their own from being another
// parameter.
func (op *operation) checkMembers(p parameter, parts []string) error {
	for _, part := range parts {
		escaped, _, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(escaped)
		other := slices.ContainsFunc(op.parameters, func(q parameter) bool { return q.In == inQuery && q.Name == name && q.Arg != p.Arg })
		if err != nil || other || op.shared.queries(name) || op.base.Query().Has(name) {
			return fmt.Errorf("has the member %s, which is another parameter", settings.Clip(name, 80))
		}
	}
	return nil
}

func (op *operation) fillHeader(r *http.Request, args map[string]jsontext.Value, secrets map[string]string, call string) error {
	var cookies []string
	for _, p := range op.parameters {
		value, given := args[p.Arg]
		if !given || value.Kind() == jsontext.KindNull || p.In != inHeader && p.In != inCookie {
			continue
		}
		text, err := p.plain(value)
		if err != nil {
			return fmt.Errorf("the argument %s %w", p.Arg, err)
		}
		if p.In == inCookie {
			cookies = append(cookies, p.Name+"="+text)
		} else {
			r.Header.Set(p.Name, text)
		}
	}
	if len(cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(cookies, "; "))
	}
	r.Header.Set("Accept", "application/json, text/plain;q=0.9, */*;q=0.1")
	r.Header.Set("User-Agent", "earshot")
	for name, value := range op.shared.headers {
		r.Header.Set(name, value)
	}
	for _, c := range op.shared.credentials {
		if c.Header == "" {
			continue
		}
		value := c.fill(secrets)
		if !fieldValue(value) {
			return fmt.Errorf("the credential for %s is not a value of a header", c.Header)
		}
		r.Header.Set(c.Header, value)
	}
	if op.class.Effectful() {
		r.Header.Set(op.shared.idempotency, call)
	}
	return nil
}

// payload is the body, in its form.
func (op *operation) payload(args map[string]jsontext.Value) ([]byte, error) {
	if op.body == nil {
		return nil, nil
	}
	value, given := args[op.body.Arg]
	switch {
	case !given:
		return nil, nil
	case op.body.Media == formMedia:
		list, kind, err := plainValues(value)
		if err != nil || kind != jsontext.KindBeginObject {
			return nil, errors.New("is not an object of strings and numbers")
		}
		form := url.Values{}
		for i := 0; i+1 < len(list); i += 2 {
			form.Set(list[i], list[i+1])
		}
		return []byte(form.Encode()), nil
	case op.body.Media == textMedia:
		if value.Kind() != jsontext.KindString {
			return nil, errors.New("is not text")
		}
		text, err := scalar(value)
		return []byte(text), err
	default:
		return slices.Clone(value), nil
	}
}
