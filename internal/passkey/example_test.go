package passkey_test

import (
	"fmt"
	"log"

	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/internal/passkey/enrol"
	"github.com/earshot-dev/earshot/internal/testkit/authenticator"
)

// A person adds a passkey, and says yes to one question with it. The same signature says nothing about the next one.
func Example() {
	const origin = "https://earshot.example.org"
	phone, err := authenticator.New(authenticator.ES256, origin, passkey.Site(origin))
	if err != nil {
		log.Fatal(err)
	}
	change := passkey.Change{Person: "anna", Site: passkey.Site(origin)}
	key, _, err := enrol.Key(phone.Register(change.Registering()), "anna", origin, change.Registering())
	if err != nil {
		log.Fatal(err)
	}

	question := passkey.Accept{Consent: "6f2c…", Session: "sess_1", Call: "tc_1", Question: 7, Token: "rpl_1", Generation: "g1"}
	yes, err := phone.Sign(question.Challenge())
	if err != nil {
		log.Fatal(err)
	}
	_, err = passkey.Verify(yes, passkey.Expected{Challenge: question.Challenge(), Key: key, Origin: origin})
	fmt.Println(err)

	question.Question = 8
	_, err = passkey.Verify(yes, passkey.Expected{Challenge: question.Challenge(), Key: key, Origin: origin})
	fmt.Println(err)
	// Output:
	// <nil>
	// passkey: it was signed for another question, or for this one as it was before
}
