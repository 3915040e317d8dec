package main

import (
	"os"
	"os/user"
	"strconv"
)

// localUser is the person who runs the program: the owner of its turns and, at its
// terminal, the one who answers.
func localUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "user-" + strconv.Itoa(os.Getuid())
}

// onePerson lets only the one who runs the program consent, and only in turns of their
// own. It implements kernel.Approvers.
type onePerson struct{ name string }

// MayApprove implements kernel.Approvers.
func (p onePerson) MayApprove(person, _, owner string) bool {
	return person == p.name && owner == p.name
}
