package oidc

import (
	"fmt"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// claims are the claims of a verified token. A name that is there twice makes all of them unreadable.
type claims map[string]jsontext.Value

func claimsOf(t *oidc.IDToken) (claims, error) {
	var raw jsontext.Value
	if err := t.Claims(&raw); err != nil {
		return nil, err //nolint:wrapcheck // the caller says what cannot be read
	}
	var all claims
	err := json.Unmarshal(raw, &all)
	return all, err //nolint:wrapcheck // the same
}

// scope is the one claim whose values stand in one text, with spaces between them (RFC 8693).
const scope = "scope"

// values returns the values of a claim: a text, or a list of texts. A name with dots also leads into objects, such as
// realm_access.roles, unless a claim has the whole name.
func (c claims) values(name string) ([]string, error) {
	raw, err := c.find(name)
	if err != nil {
		return nil, err
	}
	var one string
	if err := json.Unmarshal(raw, &one); err == nil && raw.Kind() == '"' {
		if name == scope {
			return strings.Fields(one), nil
		}
		return []string{one}, nil
	}
	var list []jsontext.Value
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("its claim %s is neither a text nor a list of texts", name)
	}
	values := make([]string, 0, len(list))
	for _, item := range list {
		if err := json.Unmarshal(item, &one); err != nil || item.Kind() != '"' {
			return nil, fmt.Errorf("its claim %s is neither a text nor a list of texts", name)
		}
		values = append(values, one)
	}
	return values, nil
}

func (c claims) find(name string) (jsontext.Value, error) {
	if raw, is := c[name]; is {
		return raw, nil
	}
	within := c
	steps := strings.Split(name, ".")
	for i, step := range steps {
		raw, is := within[step]
		if !is {
			break
		}
		if i == len(steps)-1 {
			return raw, nil
		}
		within = nil
		if err := json.Unmarshal(raw, &within); err != nil {
			break
		}
	}
	return nil, fmt.Errorf("it has no claim %s", name)
}
