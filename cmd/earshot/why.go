package main

import (
	"errors"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
)

// why says in words for a person why something failed.
func why(err error) string {
	if e, is := errors.AsType[*cause.Error](err); is {
		return e.Message
	}
	if e, is := errors.AsType[*files.Error](err); is {
		return tidy.Words(e)
	}
	if e, is := errors.AsType[*client.Error](err); is {
		return e.Message // its hint has a line of its own
	}
	return cause.Of(err)
}
