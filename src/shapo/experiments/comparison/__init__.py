"""Ways of training side by side: what each reached, over seeds, as a table and as a picture."""
