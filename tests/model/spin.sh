spin_todo() { :; }
