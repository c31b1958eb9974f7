#include "fixture_article.h"

#include <stdio.h>

#include "require.h"

KVO_CLASS_IMPLEMENTATION(article_field, "CArticleField", tracked_class, ARTICLE_FIELD_PROPERTIES,
    NULL)

static void form_setup(kvo_class *cls);

KVO_CLASS_IMPLEMENTATION(article_form, "CArticleForm", kvo_root_class, ARTICLE_FORM_PROPERTIES,
    form_setup)

static const char *const string_keys[] = {"name", "nickname", "email", "city"};
enum { STRING_KEY_COUNT = sizeof string_keys / sizeof *string_keys };

// The field of a key of the contact. Its owner retains it.
static article_field *field_for_key(article_form *self, const char *key) {
  char field_key[32];
  kvo_error error = {0};
  kvo_value value;
  snprintf(field_key, sizeof field_key, "%sField", key);
  require_ok(kvo_value_for_key(&self->object, field_key, &value, &error), &error);
  article_field *field = (article_field *)kvo_value_get_object(&value);
  kvo_value_destroy(&value);
  return field;
}

void article_form_update_fields(article_form *self) {
  for (size_t i = 0; i < STRING_KEY_COUNT && self->contact; i++) {
    article_field *field = field_for_key(self, string_keys[i]);
    kvo_error error = {0};
    kvo_value value;
    require_ok(kvo_value_for_key((kvo_object *)self->contact, string_keys[i], &value, &error),
        &error);
    if (field) article_field_setText(field, kvo_value_get_string(&value));
    kvo_value_destroy(&value);
  }
}

void article_form_editing_ended(article_form *self, article_field *sender) {
  kvo_error error = {0};
  size_t i = 0;
  while (i < STRING_KEY_COUNT && field_for_key(self, string_keys[i]) != sender) i++;
  if (i == STRING_KEY_COUNT) return;
  kvo_value value = kvo_value_string(article_field_text(sender));
  require_ok(kvo_set_value_for_key((kvo_object *)self->contact, string_keys[i], &value, &error),
      &error);
  kvo_value_destroy(&value);
}

void article_form_name_editing_ended(article_form *self, article_field *sender) {
  kvo_error error = {0};
  kvo_value value = kvo_value_string(article_field_text(sender));
  if (!kvo_validate_value((kvo_object *)self->contact, "name", &value, &error))
    article_contact_setName(self->contact, kvo_value_get_string(&value));
  kvo_value_destroy(&value);
  article_field_setText(sender, article_contact_name(self->contact));
}

static article_contact *article_form_contact_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((article_form *)self)->contact;
}

static void article_form_setContact_imp(kvo_object *self, const kvo_method *_cmd,
    article_contact *contact) {
  (void)_cmd;
  kvo_store_retained_object(&((article_form *)self)->contact, contact);
  article_form_update_fields((article_form *)self);
}

static void form_dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  kvo_store_retained_object(&((article_form *)self)->contact, NULL);
}

static void form_setup(kvo_class *cls) { require_hook(cls, "dealloc", (kvo_imp)form_dealloc); }
