package argument

import (
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/utp/schema"
)

// schemas compiles and caches the parameter schemas of tools, by definition digest.
type schemas struct {
	mu               sync.Mutex
	compiledByDigest map[string]*schema.Schema
}

// Check returns an error if the parameters of a definition are not a schema that arguments can be validated by.
func (h *Handler) Check(d utp.Definition) error {
	_, err := h.schemas.compiled(d)
	return err
}

const maxSchemas = 256

// compiled returns the schema of a definition, see [schema.Compile].
func (s *schemas) compiled(d utp.Definition) (*schema.Schema, error) {
	digest, err := d.Digest()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if compiled, found := s.compiledByDigest[digest]; found {
		return compiled, nil
	}
	parameters := d.Parameters
	if len(parameters) == 0 {
		parameters = jsontext.Value(`{"type":"object"}`)
	}
	compiled, err := schema.Compile(parameters)
	if err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", d.Tool, err)
	}
	if s.compiledByDigest == nil || len(s.compiledByDigest) >= maxSchemas {
		s.compiledByDigest = map[string]*schema.Schema{}
	}
	s.compiledByDigest[digest] = compiled
	return compiled, nil
}

// validate returns what is wrong with the arguments, or "".
func (s *schemas) validate(d utp.Definition, args jsontext.Value) (string, error) {
	compiled, err := s.compiled(d)
	if err != nil {
		return "", err
	}
	value, err := schema.Decode(args)
	if err != nil {
		return "the arguments are not JSON: " + err.Error(), nil //nolint:nilerr // It is the call's fault, not ours.
	}
	err = compiled.Validate(value)
	if why, is := schema.Why(err); is {
		return "the arguments do not fit the tool: " + why, nil
	}
	if errors.Is(err, schema.ErrWork) {
		return "the arguments cannot be judged: " + err.Error(), nil
	}
	if err != nil {
		return "", fmt.Errorf("parameters of %s: %w", d.Tool, err)
	}
	return "", nil
}
