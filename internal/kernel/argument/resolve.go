package argument

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// Resolved holds the arguments as they will run, with references in place of secrets, and what was changed in the given ones.
type Resolved struct {
	Args, Canonical jsontext.Value // Canonical is Args in the form of RFC 8785
	Defaults, Fixed []string       // members that the definition filled in, or set
	Envs            map[string]string
	Sealed          []store.Sealed // the secrets, each once
}

// InvalidError says that no call can be made from the request. It is the call's failure, not the kernel's.
type InvalidError struct {
	Code    utp.Code
	Message string
}

func (e *InvalidError) Error() string { return string(e.Code) + ": " + e.Message }

func invalid(err error) error { return &InvalidError{Code: utp.CodeBadRequest, Message: err.Error()} }

// Resolve applies the definition's options, fills in secrets, and refuses arguments that do not match the schema
// or have no canonical form: all before anyone is asked. Errors: [*InvalidError]; any other
// is the kernel's.
func (h *Handler) Resolve(call string, tool store.Tool, given jsontext.Value) (Resolved, error) {
	d := tool.Definition
	opts, err := utp.ParseOptions(d.Options)
	if err != nil {
		return Resolved{}, invalid(err)
	}
	r, err := utp.Resolve(given, opts)
	if err != nil {
		return Resolved{}, invalid(err)
	}
	if err := literalSecrets(d, r); err != nil {
		return Resolved{}, err
	}
	if len(r.Envs) > 0 && !tool.Reviewed {
		return Resolved{}, &InvalidError{Code: utp.CodeAuthFailed, Message: "the tool takes a secret, and no operator has reviewed it"}
	}
	plain, out, err := h.fillSecrets(call, r)
	if err != nil {
		return Resolved{}, err
	}
	wrong, err := h.schemas.validate(d, plain)
	if err != nil {
		return Resolved{}, err
	}
	if wrong != "" && len(r.Envs) > 0 {
		wrong = "the arguments do not fit the tool; its schema's own words are kept back, for they could quote a secret"
	}
	if wrong != "" {
		return Resolved{}, &InvalidError{Code: utp.CodeBadRequest, Message: wrong}
	}
	if out.Canonical, err = utp.Canonical(out.Args); err != nil {
		return Resolved{}, invalid(err)
	}
	return out, nil
}

// fillSecrets puts what the environment holds into two copies of the arguments: the values, for the schema, and
// references, for everything else.
func (h *Handler) fillSecrets(call string, r utp.Resolved) (plain jsontext.Value, out Resolved, err error) {
	plain, out = r.Args, Resolved{Args: r.Args, Defaults: r.Defaults, Fixed: r.Fixed, Envs: r.Envs}
	for _, name := range slices.Sorted(maps.Keys(r.Envs)) {
		if len(h.o.Key) == 0 {
			return nil, Resolved{}, &InvalidError{Code: utp.CodeNotImplemented, Message: "the tool takes a secret, and this ledger has no key to seal it"}
		}
		ref := envRef + r.Envs[name]
		value, found := h.secret(ref)
		if !found {
			return nil, Resolved{}, &InvalidError{Code: utp.CodeBadRequest, Message: "the operator's environment has no " + r.Envs[name]}
		}
		if !slices.ContainsFunc(out.Sealed, func(b store.Sealed) bool { return b.Ref == ref }) {
			box, err := h.seal(call, ref, value)
			if err != nil {
				return nil, Resolved{}, err
			}
			out.Sealed = append(out.Sealed, box)
		}
		if plain, err = setMember(plain, name, value); err != nil {
			return nil, Resolved{}, err
		}
		if out.Args, err = setMember(out.Args, name, secretArgument{Ref: ref, MAC: h.mac(ref, value)}); err != nil {
			return nil, Resolved{}, err
		}
	}
	return plain, out, nil
}

func setMember(args jsontext.Value, name string, value any) (jsontext.Value, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, invalid(err)
	}
	out, err := utp.SetMember(args, name, raw)
	if err != nil {
		return nil, invalid(err)
	}
	return out, nil
}

// literalSecrets refuses a secret that was written into the arguments: a value that the schema marks
// `"x-secret": true`, at any depth, must come from the environment. It also refuses what looks like a reference to
// a secret, because only the kernel writes those.
func literalSecrets(d utp.Definition, r utp.Resolved) error {
	marks := bytes.Contains(d.Parameters, []byte("x-secret")) || bytes.Contains(d.Parameters, []byte(`\u`))
	refers := bytes.Contains(r.Args, []byte(secretMember)) || bytes.Contains(r.Args, []byte(`\u`))
	var schema, args any
	if (!marks && !refers) || json.Unmarshal(r.Args, &args) != nil || json.Unmarshal(d.Parameters, &schema) != nil {
		return nil //nolint:nilerr // the schema compiler and the canonical form refuse what is not JSON
	}
	where, found := "", refers && sealed(args)
	if !found && marks {
		where, found = newSecretSearch(schema, len(r.Args)).find(schema, args, "", 0)
	}
	if !found {
		return nil
	}
	return &InvalidError{
		Code:    utp.CodeBadRequest,
		Message: strings.TrimSpace("the arguments hold a secret "+where) + "; name it in the tool's envs instead of writing it",
	}
}

// Without returns the arguments without the members that the environment had filled.
func Without(args jsontext.Value, envs map[string]string) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(args, &members); err != nil {
		return nil, store.Unexpected("arguments", err)
	}
	for name := range envs {
		delete(members, name)
	}
	raw, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return nil, store.Unexpected("arguments", err)
	}
	return raw, nil
}
