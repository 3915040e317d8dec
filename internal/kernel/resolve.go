package kernel

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// resolved holds the arguments as they will run, and what was changed in the given ones.
type resolved struct {
	args, canonical jsontext.Value
	defaults, fixed []string
	envs            map[string]string
}

// invalidError says that no call can be made from the request. It is the call's failure, not the kernel's.
type invalidError struct {
	code    utp.Code
	message string
}

func (e *invalidError) Error() string { return string(e.code) + ": " + e.message }

func invalid(err error) error { return &invalidError{code: utp.CodeBadRequest, message: err.Error()} }

// resolve applies the definition's options, fills in secrets, and refuses arguments that do not match the schema
// or have no canonical form: all before anyone is asked.
func (s *step) resolve(c *turn.Call, tool store.Tool, given jsontext.Value) (resolved, error) {
	d := tool.Definition
	opts, err := utp.ParseOptions(d.Options)
	if err != nil {
		return resolved{}, invalid(err)
	}
	r, err := utp.Resolve(given, opts)
	if err != nil {
		return resolved{}, invalid(err)
	}
	if err := s.literalSecrets(d, r); err != nil {
		return resolved{}, err
	}
	if len(r.Envs) > 0 && !tool.Reviewed {
		return resolved{}, &invalidError{code: utp.CodeAuthFailed, message: "the tool takes a secret, and no operator has reviewed it"}
	}
	plain, sealed, err := s.fillSecrets(c.ID, r)
	if err != nil {
		return resolved{}, err
	}
	wrong, err := s.k.schemas.validate(d, plain)
	if err != nil {
		return resolved{}, err
	}
	if wrong != "" && len(r.Envs) > 0 {
		wrong = "the arguments do not fit the tool; its schema's own words are kept back, for they could quote a secret"
	}
	if wrong != "" {
		return resolved{}, &invalidError{code: utp.CodeBadRequest, message: wrong}
	}
	canonical, err := utp.Canonical(sealed)
	if err != nil {
		return resolved{}, invalid(err)
	}
	return resolved{args: sealed, canonical: canonical, defaults: r.Defaults, fixed: r.Fixed, envs: r.Envs}, nil
}

// fillSecrets puts what the environment holds into two copies of the arguments: the values, for the schema, and
// references, for everything else.
func (s *step) fillSecrets(call string, r utp.Resolved) (plain, sealed jsontext.Value, err error) {
	plain, sealed = r.Args, r.Args
	for _, name := range slices.Sorted(maps.Keys(r.Envs)) {
		if len(s.k.o.Key) == 0 {
			return nil, nil, &invalidError{code: utp.CodeNotImplemented, message: "the tool takes a secret, and this ledger has no key to seal it"}
		}
		ref := envRef + r.Envs[name]
		value, found := s.k.secret(ref)
		if !found {
			return nil, nil, &invalidError{code: utp.CodeBadRequest, message: "the operator's environment has no " + r.Envs[name]}
		}
		if err := s.saveSealed(call, ref, value); err != nil {
			return nil, nil, err
		}
		if plain, err = setMember(plain, name, value); err != nil {
			return nil, nil, err
		}
		if sealed, err = setMember(sealed, name, secretArgument{Ref: ref, MAC: s.k.mac(ref, value)}); err != nil {
			return nil, nil, err
		}
	}
	return plain, sealed, nil
}

// saveSealed seals a value once for each call, however many members it fills.
func (s *step) saveSealed(call, ref, value string) error {
	if slices.ContainsFunc(s.batch.Sealed, func(b store.Sealed) bool { return b.Call == call && b.Ref == ref }) {
		return nil
	}
	box, err := s.k.seal(call, ref, value)
	s.batch.Sealed = append(s.batch.Sealed, box)
	return err
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
func (s *step) literalSecrets(d utp.Definition, r utp.Resolved) error {
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
	return &invalidError{
		code:    utp.CodeBadRequest,
		message: strings.TrimSpace("the arguments hold a secret "+where) + "; name it in the tool's envs instead of writing it",
	}
}

// withoutMembers removes members that the environment had filled.
func withoutMembers(args jsontext.Value, envs map[string]string) (jsontext.Value, error) {
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

// service returns the target that a definition names. It must be the same for every turn: otherwise a service
// could offer its tools in another's name.
func service(d utp.Definition) (string, error) {
	one, err := utp.RenderTarget(d.Target, utp.TargetValues{Project: "p", Channel: "c", Agent: "a"})
	if err != nil {
		return "", err
	}
	other, err := utp.RenderTarget(d.Target, utp.TargetValues{Project: "q", Channel: "d", Agent: "b"})
	if err == nil && one.Target != other.Target {
		err = fmt.Errorf("the target subject %q names another service for another turn", d.Target)
	}
	return one.Target, err
}
