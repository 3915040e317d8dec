package enrol_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/internal/passkey/enrol"
	"github.com/earshot-dev/earshot/internal/testkit/authenticator"
)

const origin, site = "http://0123.localhost:7411", "0123.localhost"

// TestKey: what is read signs for this person on this page; each part has to be what it should.
func TestKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		device func(d *authenticator.Device)
		made   func(r *api.PasskeyRegistration)
		good   bool
	}{
		{name: "good", good: true},
		{name: "signed by the key itself", device: func(d *authenticator.Device) { d.Self = true }, good: true},
		{name: "may be backed up", device: func(d *authenticator.Device) { d.Flags |= authenticator.MayBeBackedUp | authenticator.BackedUp }, good: true},
		{name: "backed up against its nature", device: func(d *authenticator.Device) { d.Flags |= authenticator.BackedUp }},
		{name: "not verified", device: func(d *authenticator.Device) { d.Flags = authenticator.Present }},
		{name: "nobody there", device: func(d *authenticator.Device) { d.Flags = authenticator.Verified }},
		{name: "another page", device: func(d *authenticator.Device) { d.Origin = "http://0123.localhost:7412" }},
		{name: "another site", device: func(d *authenticator.Device) { d.Site = "localhost" }},
		{name: "a signature", device: func(d *authenticator.Device) { d.Type = "webauthn.get" }},
		{name: "inside another page", device: func(d *authenticator.Device) { d.CrossOrigin = true }},
		{name: "another id", made: func(r *api.PasskeyRegistration) { r.Passkey = "b3RoZXI" }},
		{name: "no id", made: func(r *api.PasskeyRegistration) { r.Passkey = "" }},
		{name: "nothing of the browser", made: func(r *api.PasskeyRegistration) { r.Client = "" }},
		{name: "a line end", made: func(r *api.PasskeyRegistration) { r.Client += "\n" }},
		{name: "padding", made: func(r *api.PasskeyRegistration) { r.Passkey += "==" }},
		{name: "not base64url", made: func(r *api.PasskeyRegistration) { r.Attestation = "%" }},
		{name: "not CBOR", made: func(r *api.PasskeyRegistration) { r.Attestation = "e30" }},
		{name: "cut off", made: func(r *api.PasskeyRegistration) { r.Attestation = r.Attestation[:len(r.Attestation)-8] }},
	} {
		for _, algorithm := range enrol.Algorithms() {
			t.Run(fmt.Sprint(tt.name, " ", algorithm), func(t *testing.T) {
				t.Parallel()
				d, err := authenticator.New(algorithm, origin, site)
				if err != nil {
					t.Fatal(err)
				}
				if tt.device != nil {
					tt.device(d)
				}
				r := d.Register("challenge")
				if tt.made != nil {
					tt.made(&r)
				}
				key, counter, err := enrol.Key(r, "anna", origin, "challenge")
				if !tt.good {
					if _, is := errors.AsType[*passkey.Error](err); !is {
						t.Errorf("got %v, want a passkey.Error", err)
					}
					return
				}
				if err != nil || counter != 1 || key.ID != d.Name() || key.Person != "anna" || key.Site != site {
					t.Fatalf("%+v %d %v", key, counter, err)
				}
				a, err := d.Sign("question")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := passkey.Verify(a, passkey.Expected{Challenge: "question", Key: key, Origin: origin}); err != nil {
					t.Errorf("what it signs does not count: %v", err)
				}
			})
		}
	}
}

func TestNoPage(t *testing.T) {
	t.Parallel()
	_, _, err := enrol.Key(api.PasskeyRegistration{}, "anna", "http://127.0.0.1:7411", "x")
	if err == nil || !strings.Contains(err.Error(), "browsers use no passkeys on the page http://127.0.0.1:7411") {
		t.Errorf("got %v", err)
	}
}
