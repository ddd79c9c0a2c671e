#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace redquel::sql {

/// An ordered map whose copies share their nodes (a persistent AVL tree). A copy costs a reference, a change the logarithm of the size.
/// Iterators keep the map as it was when they were made, so a loop may change the map that it walks.
template <typename Key, typename Value>
class SharedMap {
  struct Node;
  using NodePtr = std::shared_ptr<const Node>;

 public:
  using key_type = Key;
  using mapped_type = Value;
  using value_type = std::pair<const Key, Value>;
  using size_type = std::size_t;
  using EntryPtr = std::shared_ptr<const value_type>;

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = SharedMap::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    Iterator() = default;
    reference operator*() const { return *path_[depth_ - 1]->entry; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      const Node* node = path_[--depth_];
      descend(node->right.get());
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return node() == other.node(); }

   private:
    friend SharedMap;
    explicit Iterator(NodePtr root) : root_(std::move(root)) {}
    const Node* node() const { return depth_ == 0 ? nullptr : path_[depth_ - 1]; }
    void push(const Node* node) { path_[depth_++] = node; }
    void descend(const Node* node) {
      for (; node != nullptr; node = node->left.get()) push(node);
    }

    static constexpr std::size_t kMostHeight = 46;  // of a tree of 2^32 nodes
    NodePtr root_;
    std::array<const Node*, kMostHeight> path_;  // the node, behind those of its ancestors that come after it
    std::size_t depth_ = 0;
  };
  using const_iterator = Iterator;
  using iterator = Iterator;

  Iterator begin() const {
    Iterator first(root_);
    first.descend(root_.get());
    return first;
  }
  Iterator end() const { return {}; }
  std::size_t size() const { return root_ ? root_->size : 0; }
  bool empty() const { return root_ == nullptr; }

  /// Returns the first entry whose key is not less.
  template <typename K>
  Iterator lower_bound(const K& key) const {
    Iterator found(root_);
    for (const Node* node = root_.get(); node != nullptr;) {
      const bool is_less = node->entry->first < key;
      if (!is_less) found.push(node);
      node = is_less ? node->right.get() : node->left.get();
    }
    return found;
  }
  template <typename K>
  Iterator find(const K& key) const {
    Iterator found = lower_bound(key);
    return found != end() && !(key < found->first) ? found : end();
  }
  template <typename K>
  bool contains(const K& key) const {
    return get(key) != nullptr;
  }
  /// Returns the value, which lives as long as a map with this entry; null: there is none.
  template <typename K>
  const Value* get(const K& key) const {
    for (const Node* node = root_.get(); node != nullptr;) {
      if (node->entry->first < key) node = node->right.get();
      else if (key < node->entry->first) node = node->left.get();
      else return &node->entry->second;
    }
    return nullptr;
  }
  /// Returns the last entry; null: there is none.
  const value_type* last() const {
    const Node* node = root_.get();
    while (node != nullptr && node->right) node = node->right.get();
    return node == nullptr ? nullptr : node->entry.get();
  }
  template <typename K>
  const Value& at(const K& key) const {
    if (const Value* value = get(key)) return *value;
    throw std::out_of_range("SharedMap::at");
  }

  void insert_or_assign(Key key, Value value) {
    root_ = with(root_, std::make_shared<const value_type>(std::move(key), std::move(value)));
  }
  /// Returns false, and changes nothing, if the key is there.
  bool emplace(Key key, Value value) {
    if (contains(key)) return false;
    insert_or_assign(std::move(key), std::move(value));
    return true;
  }
  /// Returns false if the key is not there.
  template <typename K>
  bool erase(const K& key) {
    if (!contains(key)) return false;
    root_ = without(root_, key);
    return true;
  }

  /// Calls `take(before, after)` with the entries that differ, in the order of their keys; null: there is none. Costs what differs: shared nodes
  /// are not visited.
  template <typename Take>
  static void for_each_difference(const SharedMap& before, const SharedMap& after, Take take) {
    differ(before.root_, after.root_, take);
  }

 private:
  struct Node {
    EntryPtr entry;
    NodePtr left, right;
    std::size_t size = 1;
    int height = 1;
  };

  static int height(const NodePtr& node) { return node ? node->height : 0; }
  static std::size_t size(const NodePtr& node) { return node ? node->size : 0; }

  static NodePtr make(NodePtr left, EntryPtr entry, NodePtr right) {
    auto node = std::make_shared<Node>();
    node->size = size(left) + 1 + size(right);
    node->height = std::max(height(left), height(right)) + 1;
    node->entry = std::move(entry);
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }
  /// Like make(), for trees whose heights differ by two at most.
  static NodePtr balance(NodePtr left, EntryPtr entry, NodePtr right) {
    if (height(left) > height(right) + 1) {
      if (height(left->left) >= height(left->right)) return make(left->left, left->entry, make(left->right, std::move(entry), std::move(right)));
      const NodePtr& middle = left->right;
      return make(make(left->left, left->entry, middle->left), middle->entry, make(middle->right, std::move(entry), std::move(right)));
    }
    if (height(right) > height(left) + 1) {
      if (height(right->right) >= height(right->left)) return make(make(std::move(left), std::move(entry), right->left), right->entry, right->right);
      const NodePtr& middle = right->left;
      return make(make(std::move(left), std::move(entry), middle->left), middle->entry, make(middle->right, right->entry, right->right));
    }
    return make(std::move(left), std::move(entry), std::move(right));
  }
  /// Like make(), for trees of any heights.
  static NodePtr join(NodePtr left, EntryPtr entry, NodePtr right) {
    if (height(left) > height(right) + 1) return balance(left->left, left->entry, join(left->right, std::move(entry), std::move(right)));
    if (height(right) > height(left) + 1) return balance(join(std::move(left), std::move(entry), right->left), right->entry, right->right);
    return make(std::move(left), std::move(entry), std::move(right));
  }

  static NodePtr with(const NodePtr& node, EntryPtr entry) {
    if (!node) return make(nullptr, std::move(entry), nullptr);
    if (entry->first < node->entry->first) return balance(with(node->left, std::move(entry)), node->entry, node->right);
    if (node->entry->first < entry->first) return balance(node->left, node->entry, with(node->right, std::move(entry)));
    return make(node->left, std::move(entry), node->right);
  }
  template <typename K>
  static NodePtr without(const NodePtr& node, const K& key) {
    if (key < node->entry->first) return balance(without(node->left, key), node->entry, node->right);
    if (node->entry->first < key) return balance(node->left, node->entry, without(node->right, key));
    if (!node->left) return node->right;
    if (!node->right) return node->left;
    const Node* least = node->right.get();
    while (least->left) least = least->left.get();
    return balance(node->left, least->entry, without(node->right, least->entry->first));
  }

  /// Returns the entries before the key, the entry of the key, and those behind it.
  static std::tuple<NodePtr, EntryPtr, NodePtr> split(const NodePtr& node, const Key& key) {
    if (!node) return {};
    if (key < node->entry->first) {
      auto [less, same, more] = split(node->left, key);
      return {std::move(less), std::move(same), join(std::move(more), node->entry, node->right)};
    }
    if (node->entry->first < key) {
      auto [less, same, more] = split(node->right, key);
      return {join(node->left, node->entry, std::move(less)), std::move(same), std::move(more)};
    }
    return {node->left, node->entry, node->right};
  }
  template <typename Take>
  static void differ(const NodePtr& before, const NodePtr& after, Take& take) {
    if (before == after) return;
    const NodePtr& pivot = after ? after : before;
    const auto [less_before, same_before, more_before] = split(before, pivot->entry->first);
    const auto [less_after, same_after, more_after] = split(after, pivot->entry->first);
    differ(less_before, less_after, take);
    if (same_before != same_after) take(same_before.get(), same_after.get());
    differ(more_before, more_after, take);
  }

  NodePtr root_;
};

}  // namespace redquel::sql
